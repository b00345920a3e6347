/**
 * A sketch: fewer triangles on fewer vertices, for pictures that are drawn while something moves. Its vertices are
 * numbered anew in the order in which they are drawn: only they are moved and handed to the graphics card, and what
 * draws on the processor finds most of them where it has just been.
 */
import { BufferAttribute, type InstancedBufferGeometry } from "three";
import type { Description } from "./description";

/** The triangles of one draw: the drawn vertices that they are on, and three of these a triangle. */
export interface Piece {
  vertices: Uint32Array;
  triangles: Uint32Array;
}

/** The triangles of each draw, in drawn vertices, as pieces. */
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

/** Many pieces as one: the numbers of each go on after those of the one before. */
export function joined(pieces: readonly Piece[]): Piece & { starts: number[] } {
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

/** The draws of a sketch in the order of the description's; null where they are those of another character. */
export function piecesOf(
  { parts }: Pick<Description, "parts">,
  draws: readonly (readonly Uint32Array[])[],
): Piece[] | null {
  const fits = parts.length === draws.length && parts.every((part, i) => part.draws.length === draws[i].length);
  return fits ? draws.flat().map(pieceOf) : null;
}

/** Rows of an attribute of one part, which begins at a drawn vertex, for the vertices of a piece. */
export function chosen(attribute: BufferAttribute, start: number, vertices: Uint32Array): BufferAttribute {
  const { array, itemSize } = attribute;
  const result = new Float32Array(itemSize * vertices.length);
  vertices.forEach((vertex, i) => {
    const from = itemSize * (vertex - start);
    for (let c = 0; c < itemSize; c++) result[itemSize * i + c] = array[from + c];
  });
  return new BufferAttribute(result, itemSize);
}

/** Fills a geometry with a piece of another's part, whose vertices are in these rows of the tables. */
export function fill(
  geometry: InstancedBufferGeometry,
  whole: InstancedBufferGeometry,
  start: number,
  piece: Piece,
  rows: Uint32Array,
): void {
  for (const [name, attribute] of Object.entries(whole.attributes))
    if (name !== "source") geometry.setAttribute(name, chosen(attribute as BufferAttribute, start, piece.vertices));
  geometry.setAttribute("source", new BufferAttribute(Float32Array.from(rows), 1));
  geometry.setIndex(indexOf(piece.triangles, piece.vertices.length));
}

/** An index of so many vertices, as small as it can be. */
export function indexOf(triangles: Uint32Array, vertices: number): BufferAttribute {
  return new BufferAttribute(vertices > 65535 ? triangles : Uint16Array.from(triangles), 1);
}
