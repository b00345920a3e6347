/**
 * Level of detail: fewer triangles on fewer vertices, drawn while something moves. Its vertices are renumbered in the
 * order in which they are drawn: only they are deformed and uploaded, and software rendering finds most of them in the
 * cache.
 */
import { BufferAttribute, type InstancedBufferGeometry } from "three";
import type { Description } from "./description";

/** The triangles of one draw: its drawn vertices, and three indices into them for each triangle. */
export interface Piece {
  vertices: Uint32Array;
  triangles: Uint32Array;
}

/** Renumbers the triangles of one draw. */
export function pieceOf(triangles: Uint32Array): Piece {
  const known = new Map<number, number>();
  const numbers = triangles.map((vertex) => {
    let number = known.get(vertex);
    if (number === undefined) {
      number = known.size;
      known.set(vertex, number);
    }
    return number;
  });
  return { vertices: Uint32Array.from(known.keys()), triangles: numbers };
}

/** Concatenates pieces; the indices of each follow those of the one before. */
export function joinPieces(pieces: readonly Piece[]): Piece & { starts: number[] } {
  const starts: number[] = [];
  let count = 0;
  for (const { vertices } of pieces) {
    starts.push(count);
    count += vertices.length;
  }
  const vertices = new Uint32Array(count);
  for (const [i, piece] of pieces.entries()) vertices.set(piece.vertices, starts[i]);
  const triangles = new Uint32Array(pieces.reduce((sum, piece) => sum + piece.triangles.length, 0));
  let at = 0;
  pieces.forEach((piece, i) => {
    for (const vertex of piece.triangles) triangles[at++] = vertex + starts[i];
  });
  return { vertices, triangles, starts };
}

/** The pieces of a level of detail in the order of the description's draws; null if it belongs to another character. */
export function piecesOf(
  { parts }: Pick<Description, "parts">,
  draws: readonly (readonly Uint32Array[])[],
): Piece[] | null {
  const fits = parts.length === draws.length && parts.every((part, i) => part.draws.length === draws[i].length);
  return fits ? draws.flat().map(pieceOf) : null;
}

/** The rows of a part's attribute for the vertices of a piece; `start` is the part's first drawn vertex. */
export function selectRows(attribute: BufferAttribute, start: number, vertices: Uint32Array): BufferAttribute {
  const { array, itemSize } = attribute;
  const result = new Float32Array(itemSize * vertices.length);
  vertices.forEach((vertex, i) => {
    const from = itemSize * (vertex - start);
    for (let c = 0; c < itemSize; c++) result[itemSize * i + c] = array[from + c];
  });
  return new BufferAttribute(result, itemSize);
}

/** Fills a geometry with a piece of a part; `rows` are the table rows of its vertices. */
export function fillGeometry(
  geometry: InstancedBufferGeometry,
  whole: InstancedBufferGeometry,
  start: number,
  piece: Piece,
  rows: Uint32Array,
): void {
  for (const [name, attribute] of Object.entries(whole.attributes))
    if (name !== "source") geometry.setAttribute(name, selectRows(attribute as BufferAttribute, start, piece.vertices));
  geometry.setAttribute("source", new BufferAttribute(Float32Array.from(rows), 1));
  geometry.setIndex(makeIndex(piece.triangles, piece.vertices.length));
}

/** An index for so many vertices, with the smallest type that holds them. */
export function makeIndex(triangles: Uint32Array, vertices: number): BufferAttribute {
  return new BufferAttribute(vertices > 65535 ? triangles : Uint16Array.from(triangles), 1);
}
