/**
 * Motion curves as the server sends them: where points are at each frame, how they are turned, and where their keys
 * lie.
 */
import { FRAME } from "../protocol/messages";

export interface MotionCurve {
  curve: number;
  positions: Float32Array; // 3F, metres
  turns: Float32Array; // 4F, x, y, z, w
  keyTimes: Float32Array; // K, seconds
  keyPlaces: Float32Array; // 3K
}

export interface Paths {
  times: Float32Array; // F, seconds
  curves: Map<number, MotionCurve>;
}

const WORDS = 4; // before the times: first frame, frames in all, two that say nothing

/**
 * The curves of a frame of form 4. While something is dragged only the frames are sent that change: they go into the
 * arrays of the curves before. Null where the bytes are no such frame, or a part of something that is not here.
 */
export function readPaths(data: ArrayBuffer, before: Paths | null): Paths | null {
  const view = new DataView(data);
  if (data.byteLength < FRAME.header + 4 * WORDS || view.getUint32(12, true) !== FRAME.paths) return null;
  const [count, frames] = [view.getUint32(24, true), view.getUint32(28, true)];
  const [first, total] = [view.getUint32(FRAME.header, true), view.getUint32(FRAME.header + 4, true)];
  const whole = frames === total;
  const times = whole ? new Float32Array(total) : before?.times;
  if (times?.length !== total) return null;
  let at = FRAME.header + 4 * WORDS;
  const floats = (length: number): Float32Array => {
    const found = new Float32Array(data, at, length);
    at += 4 * length;
    return found;
  };
  times.set(floats(frames), first);
  const curves = new Map<number, MotionCurve>();
  for (let i = 0; i < count; i++) {
    const [curve, keys] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    at += 8;
    const old = before?.curves.get(curve);
    if (!whole && !old) return null;
    const kept = old?.positions.length === 3 * total ? old : null;
    const positions = kept?.positions ?? new Float32Array(3 * total);
    const turns = kept?.turns ?? new Float32Array(4 * total);
    positions.set(floats(3 * frames), 3 * first);
    turns.set(floats(4 * frames), 4 * first);
    curves.set(curve, { curve, positions, turns, keyTimes: floats(keys), keyPlaces: floats(3 * keys) });
  }
  return { times, curves };
}

/** The place of a time among the frames: the frame before it, and the share of the way to the next. */
export function frameOf(times: Float32Array, time: number): { frame: number; share: number } {
  const last = times.length - 1;
  if (last < 1 || time <= times[0]) return { frame: 0, share: 0 };
  if (time >= times[last]) return { frame: last, share: 0 };
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return { frame: low, share: (time - times[low]) / (times[high] - times[low]) };
}

/** The frame nearest to a time, as a time; the time itself where there are no frames. */
export function frameNear(times: Float32Array, time: number): number {
  const { frame, share } = frameOf(times, time);
  return times[Math.min(frame + (share < 0.5 ? 0 : 1), times.length - 1)] ?? time;
}

/** Where a curve is at a time. */
export function placeAt(paths: Paths, curve: MotionCurve, time: number): [number, number, number] {
  const { frame, share } = frameOf(paths.times, time);
  const next = Math.min(frame + 1, paths.times.length - 1);
  const mix = (c: number): number => {
    const from = curve.positions[3 * frame + c];
    return from + share * (curve.positions[3 * next + c] - from);
  };
  return [mix(0), mix(1), mix(2)];
}

/**
 * How a curve's point is turned at a time; between frames the quaternions are mixed, which is near enough for a handle.
 */
export function turnAt(paths: Paths, curve: MotionCurve, time: number): [number, number, number, number] {
  const { frame, share } = frameOf(paths.times, time);
  const next = Math.min(frame + 1, paths.times.length - 1);
  const [p, q] = [curve.turns.subarray(4 * frame, 4 * frame + 4), curve.turns.subarray(4 * next, 4 * next + 4)];
  const sign = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0 ? -1 : 1;
  const mixed = Array.from(p, (value, c) => (1 - share) * value + share * sign * q[c]);
  const length = Math.hypot(...mixed) || 1;
  return mixed.map((value) => value / length) as [number, number, number, number];
}

/**
 * The speed at each frame (F,), 0 for standing still to 1 for as fast as it gets: as fast as nine tenths of the frames
 * are not.
 */
export function relativeSpeeds(positions: Float32Array, times: Float32Array): Float32Array {
  const count = times.length;
  const result = new Float32Array(count);
  for (let f = 0; f < count; f++) {
    const [a, b] = [Math.max(0, f - 1), Math.min(count - 1, f + 1)];
    const way = Math.hypot(...[0, 1, 2].map((c) => positions[3 * b + c] - positions[3 * a + c]));
    result[f] = b > a ? way / Math.max(1e-6, times[b] - times[a]) : 0;
  }
  const fast = Float32Array.from(result).sort()[Math.floor(0.9 * (count - 1))] || 0;
  const most = Math.max(fast, 1e-6);
  return result.map((speed) => Math.min(1, speed / most));
}

/** The key times around a time: the last at or before it, the first after it; the ends where there are none. */
export function segmentOf(times: ArrayLike<number>, time: number, seconds: number): { start: number; stop: number } {
  let [start, stop] = [0, seconds];
  for (let i = 0; i < times.length; i++) {
    if (times[i] <= time + 1e-4) start = Math.max(start, times[i]);
    else stop = Math.min(stop, times[i]);
  }
  return { start, stop };
}

/** A curve as a camera sees it that goes along with a root: its way is taken out, and put back as it is at one time. */
export function followed(paths: Paths, curve: MotionCurve, root: MotionCurve, now: number): MotionCurve {
  const here = placeAt(paths, root, now);
  const positions = curve.positions.map((value, i) => value - root.positions[i] + here[i % 3]);
  const keyPlaces = Float32Array.from(curve.keyPlaces);
  for (const [k, time] of curve.keyTimes.entries()) {
    const place = placeAt(paths, root, time);
    for (let c = 0; c < 3; c++) keyPlaces[3 * k + c] += here[c] - place[c];
  }
  return { ...curve, positions, keyPlaces };
}

/**
 * A smooth line through places (3F,), `pieces` for each frame: through every one of them.
 * Catmull-Rom: p(u) between p1 and p2 is (1, u, u^2, u^3) of the usual matrix, the ends doubled.
 */
export function smoothed(places: ArrayLike<number>, width: number, pieces: number): Float32Array {
  const frames = places.length / width;
  if (pieces < 2 || frames < 2) return Float32Array.from(places);
  const result = new Float32Array(width * ((frames - 1) * pieces + 1));
  for (let f = 0; f + 1 < frames; f++)
    for (let c = 0; c < width; c++) {
      const at = (i: number): number => places[width * Math.min(Math.max(i, 0), frames - 1) + c];
      const [a, b, d, e] = [at(f - 1), at(f), at(f + 1), at(f + 2)];
      for (let i = 0; i < pieces; i++) {
        const u = i / pieces;
        result[width * (f * pieces + i) + c] =
          b + 0.5 * u * (d - a + u * (2 * a - 5 * b + 4 * d - e + u * (3 * (b - d) + e - a)));
      }
    }
  for (let c = 0; c < width; c++) result[result.length - width + c] = places[width * (frames - 1) + c];
  return result;
}
