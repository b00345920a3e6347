/** The description of a character from the server: a JSON header, then buffers (see render/viewport/description.py). */

export type BufferView = [offset: number, rows: number, width: number, kind: "f" | "u"];

export interface TextureUse {
  image: number;
  uv: number;
  wrap: [number, number]; // the constants of glTF
  nearest: boolean;
  scale: number; // of a normal map, or the strength of occlusion
  offset: [number, number];
  stretch: [number, number];
  turn: number;
}

export interface MaterialEntry {
  name: string;
  colour: [number, number, number, number]; // linear
  metallic: number;
  roughness: number;
  emissive: [number, number, number];
  alphaMode: "OPAQUE" | "MASK" | "BLEND";
  alphaCutoff: number;
  doubleSided: boolean;
  unlit: boolean;
  specular: number;
  softness: number;
  clearcoat: number;
  clearcoatRoughness: number;
  sheen: [number, number, number];
  translucency: number;
  castsShadow: boolean;
  textures: Partial<Record<"colour" | "normal" | "metallic_roughness" | "occlusion" | "emissive", TextureUse>>;
}

export interface PartEntry {
  name: string;
  start: number; // its first drawn vertex
  count: number;
  dual: boolean;
  uvs: BufferView[];
  colours: BufferView | null;
  draws: { material: number; triangles: BufferView }[];
}

interface Header {
  version: number;
  name: string;
  form: number;
  vertices: number;
  joints: string[];
  parents: number[];
  bones: number[];
  binds: BufferView;
  weights: number;
  bounds: [[number, number, number], [number, number, number]];
  parts: PartEntry[];
  materials: MaterialEntry[];
  positions: BufferView;
  normals: BufferView;
  origins: BufferView;
  influenceFirst: BufferView;
  influenceNumber: BufferView;
  influenceValue: BufferView;
  targetFirst: BufferView;
  targetNumber: BufferView;
  targetValue: BufferView;
  corners: BufferView;
  seams: BufferView;
  rest: BufferView;
}

/** Variable-length lists for each vertex: the entries of vertex v are `first[v]` to `first[v + 1]`. */
export interface VertexLists {
  first: Uint32Array;
  number: Uint32Array; // index of a bone or a target
  value: Float32Array; // one row an entry
}

export interface Description
  extends Omit<Header, "positions" | "normals" | "origins" | "corners" | "seams" | "rest" | "binds"> {
  drawn: number; // vertices after seams were split
  positions: Float32Array;
  normals: Float32Array;
  origins: Uint32Array; // the character's own vertex index of each drawn vertex
  influences: VertexLists;
  targets: VertexLists;
  corners: Uint32Array; // triangles of streamed vertices
  seams: Uint32Array; // an index for each streamed vertex; vertices with the same index share their normal
  rest: Float32Array; // the payload of a frame in the rest pose
  binds: Float32Array; // 12 numbers for each bone
  floats(place: BufferView): Float32Array;
  numbers(place: BufferView): Uint32Array;
}

const VERSION = 2;

/**
 * Parses the header and returns readers for the buffers after it; throws an error if the data are not a description.
 */
function openBuffers<H extends { version: number }>(
  data: ArrayBuffer,
): { header: H; floats(place: BufferView): Float32Array; numbers(place: BufferView): Uint32Array } {
  const length = data.byteLength >= 4 ? new DataView(data).getUint32(0, true) : 0;
  if (length === 0 || 4 + length > data.byteLength) throw new Error("the character's description is cut off");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as H;
  if (header.version !== VERSION)
    throw new Error(
      `the character's description is of version ${header.version}, but ${VERSION} is known; reload the page`,
    );
  const base = 4 + length;
  const check = (place: BufferView): void => {
    if (base + place[0] + 4 * place[1] * place[2] > data.byteLength)
      throw new Error("the character's description is cut off");
  };
  const floats = (place: BufferView): Float32Array => {
    check(place);
    return new Float32Array(data, base + place[0], place[1] * place[2]);
  };
  const numbers = (place: BufferView): Uint32Array => {
    check(place);
    return new Uint32Array(data, base + place[0], place[1] * place[2]);
  };
  return { header, floats, numbers };
}

/** Parses a description; throws an error if the data are not one. */
export function parseDescription(data: ArrayBuffer): Description {
  const { header, floats, numbers } = openBuffers<Header>(data);
  const lists = (first: BufferView, number: BufferView, value: BufferView): VertexLists => ({
    first: numbers(first),
    number: numbers(number),
    value: floats(value),
  });
  return {
    ...header,
    drawn: header.positions[1],
    positions: floats(header.positions),
    normals: floats(header.normals),
    origins: numbers(header.origins),
    influences: lists(header.influenceFirst, header.influenceNumber, header.influenceValue),
    targets: lists(header.targetFirst, header.targetNumber, header.targetValue),
    corners: numbers(header.corners),
    seams: numbers(header.seams),
    rest: floats(header.rest),
    binds: floats(header.binds),
    floats,
    numbers,
  };
}

/**
 * Parses a level of detail (see render/viewport/decimate.py): the triangles of each part's draws on fewer of the drawn
 * vertices.
 */
export function parseLod(data: ArrayBuffer): Uint32Array[][] {
  const { header, numbers } = openBuffers<{ version: number; draws: BufferView[][] }>(data);
  return header.draws.map((places) => places.map(numbers));
}

/** For each drawn vertex the joint with the largest weight; -1 for vertices without one. */
export function leadingJoints(description: Description): Int32Array {
  const { influences, bones, drawn } = description;
  const result = new Int32Array(drawn).fill(-1);
  for (let v = 0; v < drawn; v++) {
    const first = influences.first[v];
    if (influences.first[v + 1] > first) result[v] = bones[influences.number[first]]; // the largest weight comes first
  }
  return result;
}
