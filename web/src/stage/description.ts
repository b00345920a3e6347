/** A character as the server describes it: a JSON header, then buffers (see studio/stage/description.py). */

export type Place = [offset: number, rows: number, width: number, kind: "f" | "u"];

export interface TextureUse {
  image: number;
  uv: number;
  wrap: [number, number]; // glTF's own numbers
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
  uvs: Place[];
  colours: Place | null;
  draws: { material: number; triangles: Place }[];
}

interface Header {
  version: number;
  name: string;
  form: number;
  vertices: number;
  joints: string[];
  parents: number[];
  bones: number[];
  binds: Place;
  weights: number;
  bounds: [[number, number, number], [number, number, number]];
  parts: PartEntry[];
  materials: MaterialEntry[];
  positions: Place;
  normals: Place;
  origins: Place;
  influenceFirst: Place;
  influenceNumber: Place;
  influenceValue: Place;
  targetFirst: Place;
  targetNumber: Place;
  targetValue: Place;
  corners: Place;
  seams: Place;
  rest: Place;
}

/** Entries of each vertex: those of vertex v are `first[v]` to `first[v + 1]`. */
export interface Lists {
  first: Uint32Array;
  number: Uint32Array; // a bone or a target
  value: Float32Array; // one row an entry
}

export interface Description
  extends Omit<Header, "positions" | "normals" | "origins" | "corners" | "seams" | "rest" | "binds"> {
  drawn: number; // vertices after seams were split
  positions: Float32Array;
  normals: Float32Array;
  origins: Uint32Array; // the character's own vertex of each drawn one
  influences: Lists;
  targets: Lists;
  corners: Uint32Array; // triangles of streamed vertices
  seams: Uint32Array; // a number for each of them; vertices of one number share their normal
  rest: Float32Array; // the payload of a frame at rest
  binds: Float32Array; // 12 numbers a bone
  floats(place: Place): Float32Array;
  numbers(place: Place): Uint32Array;
}

const VERSION = 2;

/** The header and what reads the buffers behind it; throws a sentence where the data are not of this kind. */
function opened<H extends { version: number }>(
  data: ArrayBuffer,
): { header: H; floats(place: Place): Float32Array; numbers(place: Place): Uint32Array } {
  const length = data.byteLength >= 4 ? new DataView(data).getUint32(0, true) : 0;
  if (length === 0 || 4 + length > data.byteLength) throw new Error("the character's description is cut off");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as H;
  if (header.version !== VERSION)
    throw new Error(
      `the character's description is of version ${header.version}, but ${VERSION} is known; reload the page`,
    );
  const base = 4 + length;
  const check = (place: Place): void => {
    if (base + place[0] + 4 * place[1] * place[2] > data.byteLength)
      throw new Error("the character's description is cut off");
  };
  const floats = (place: Place): Float32Array => {
    check(place);
    return new Float32Array(data, base + place[0], place[1] * place[2]);
  };
  const numbers = (place: Place): Uint32Array => {
    check(place);
    return new Uint32Array(data, base + place[0], place[1] * place[2]);
  };
  return { header, floats, numbers };
}

/** Reads a description; throws a sentence where it is not one. */
export function parseDescription(data: ArrayBuffer): Description {
  const { header, floats, numbers } = opened<Header>(data);
  const lists = (first: Place, number: Place, value: Place): Lists => ({
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
 * Reads a sketch (see studio/stage/sketching.py): the triangles of each part's draws on fewer of the drawn vertices.
 */
export function parseSketch(data: ArrayBuffer): Uint32Array[][] {
  const { header, numbers } = opened<{ version: number; draws: Place[][] }>(data);
  return header.draws.map((places) => places.map(numbers));
}

/** For each drawn vertex the joint that moves it most; -1 where none does. */
export function leadingJoints(description: Description): Int32Array {
  const { influences, bones, drawn } = description;
  const result = new Int32Array(drawn).fill(-1);
  for (let v = 0; v < drawn; v++) {
    const first = influences.first[v];
    if (influences.first[v + 1] > first) result[v] = bones[influences.number[first]]; // the largest weight comes first
  }
  return result;
}
