/** The latent map as the server sends it: a JSON header, then float32 (studio/perform/map_data.py has the format). */

export interface MapLabel {
  label: string;
  frames: number;
  matrix: number[][]; // 3 x Q, from a latent to the map
  offset: number[]; // 3
  centre: [number, number, number];
  radius: number;
  home: number; // the point that shows the label best
  dust: number; // how many of the dust's points are its own
}

export interface MapClip {
  clip: string;
  label: number;
  first: number; // its first point
  count: number;
}

export interface MapPair {
  first: number; // labels
  second: number;
  begin: number; // its first bridge
  count: number;
  near: number; // 1 where its bridges leave nothing to blend, 0 at the threshold
}

export interface LatentMap {
  rate: number;
  labels: MapLabel[];
  clips: MapClip[];
  pairs: MapPair[];
  points: Float32Array; // 3 each
  bridges: Float32Array; // 6 each
  dust: Float32Array; // 4 each
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

/** Reads a map; one that is cut short is refused. */
export function readMap(data: ArrayBuffer): LatentMap {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length))) as Header;
  let at = 4 + length;
  const take = (count: number): Float32Array => {
    const part = new Float32Array(data, at, count);
    at += 4 * count;
    return part;
  };
  const points = take(3 * header.points);
  const bridges = take(6 * header.bridges);
  const dust = take(4 * header.dust);
  return { rate: header.rate, labels: header.labels, clips: header.clips, pairs: header.pairs, points, bridges, dust };
}

/** Where a latent of a label is on the map. */
export function placeOf(label: MapLabel, x: readonly number[]): [number, number, number] {
  const row = (r: number) => label.matrix[r].reduce((sum, value, q) => sum + value * (x[q] ?? 0), label.offset[r]);
  return [row(0), row(1), row(2)];
}

/** Which moment of which clip a point is. */
export interface Moment {
  point: number;
  clip: string;
  label: string;
  seconds: number;
}

/** The moment of a point; clips are in the order of their points. */
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
