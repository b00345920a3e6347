/** The latent map from the server: a JSON header, then float32 (see studio/perform/latent_map.py). */

export interface MapLabel {
  label: string;
  frames: number;
  matrix: number[][]; // 3 x Q, from latent coordinates to the map
  offset: number[]; // 3
  centre: [number, number, number];
  radius: number;
  home: number; // the point that represents the label best
  dust: number; // number of its dust points
}

export interface MapClip {
  clip: string;
  label: number;
  first: number; // index of its first point
  count: number;
}

export interface MapPair {
  first: number; // indices of labels
  second: number;
  begin: number; // index of its first bridge
  count: number;
  near: number; // 1 for bridges between equal poses, 0 at the threshold
}

export interface LatentMap {
  rate: number;
  labels: MapLabel[];
  clips: MapClip[];
  pairs: MapPair[];
  points: Float32Array; // 3 numbers each
  bridges: Float32Array; // 6 numbers each
  dust: Float32Array; // 4 numbers each
}

interface Header {
  rate: number;
  labels: MapLabel[];
  clips: MapClip[];
  pairs: MapPair[];
  points: number;
  bridges: number;
  dust: number;
}

/** Parses a map; throws an error if it is cut off. */
export function readMap(data: ArrayBuffer): LatentMap {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as Header;
  let at = 4 + length;
  const readFloats = (count: number): Float32Array => {
    const part = new Float32Array(data, at, count);
    at += 4 * count;
    return part;
  };
  const points = readFloats(3 * header.points);
  const bridges = readFloats(6 * header.bridges);
  const dust = readFloats(4 * header.dust);
  return { rate: header.rate, labels: header.labels, clips: header.clips, pairs: header.pairs, points, bridges, dust };
}

/** The position of a latent point of a label on the map. */
export function mapPosition(label: MapLabel, x: readonly number[]): [number, number, number] {
  const row = (r: number) => label.matrix[r].reduce((sum, value, q) => sum + value * (x[q] ?? 0), label.offset[r]);
  return [row(0), row(1), row(2)];
}

/** The moment of a clip that belongs to a point. */
export interface Moment {
  point: number;
  clip: string;
  label: string;
  seconds: number;
}

/** The moment of a point; clips are sorted by their first points. */
export function momentOf(map: LatentMap, point: number): Moment | null {
  let low = 0;
  let high = map.clips.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (map.clips[middle].first <= point) low = middle;
    else high = middle - 1;
  }
  const clip = map.clips[low];
  if (!clip || point < clip.first || point >= clip.first + clip.count) return null;
  return { point, clip: clip.clip, label: map.labels[clip.label].label, seconds: (point - clip.first) / map.rate };
}
