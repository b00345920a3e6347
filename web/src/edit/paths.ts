/** Motion curves from the server: positions and rotations of points at each frame, and the positions of their keys. */
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

const HEADER_WORDS = 4; // before the times: first frame, frame count, two unused

/**
 * Parses the curves of a frame of form 4. During a drag only the changed frames are sent, and are written into the
 * arrays of `before`. Null if the bytes are not such a frame, or a part of unknown curves.
 */
export function readPaths(data: ArrayBuffer, before: Paths | null): Paths | null {
  const view = new DataView(data);
  if (data.byteLength < FRAME.header + 4 * HEADER_WORDS || view.getUint32(12, true) !== FRAME.paths) return null;
  const [count, frames] = [view.getUint32(24, true), view.getUint32(28, true)];
  const [first, total] = [view.getUint32(FRAME.header, true), view.getUint32(FRAME.header + 4, true)];
  const whole = frames === total;
  const times = whole ? new Float32Array(total) : before?.times;
  if (times?.length !== total) return null;
  let at = FRAME.header + 4 * HEADER_WORDS;
  const floats = (length: number): Float32Array => {
    const part = new Float32Array(data, at, length);
    at += 4 * length;
    return part;
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

/** The frame before a time, and the share of the time to the next frame. */
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

/** The time of the nearest frame; the time itself without frames. */
export function nearestFrameTime(times: Float32Array, time: number): number {
  const { frame, share } = frameOf(times, time);
  return times[Math.min(frame + (share < 0.5 ? 0 : 1), times.length - 1)] ?? time;
}

/** The position of a curve at a time. */
export function positionAt(paths: Paths, curve: MotionCurve, time: number): [number, number, number] {
  const { frame, share } = frameOf(paths.times, time);
  const next = Math.min(frame + 1, paths.times.length - 1);
  const mix = (c: number): number => {
    const from = curve.positions[3 * frame + c];
    return from + share * (curve.positions[3 * next + c] - from);
  };
  return [mix(0), mix(1), mix(2)];
}

/** The rotation of a curve's point at a time; interpolated linearly between frames, which is enough for a handle. */
export function rotationAt(paths: Paths, curve: MotionCurve, time: number): [number, number, number, number] {
  const { frame, share } = frameOf(paths.times, time);
  const next = Math.min(frame + 1, paths.times.length - 1);
  const [p, q] = [curve.turns.subarray(4 * frame, 4 * frame + 4), curve.turns.subarray(4 * next, 4 * next + 4)];
  const sign = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0 ? -1 : 1;
  const mixed = Array.from(p, (value, c) => (1 - share) * value + share * sign * q[c]);
  const length = Math.hypot(...mixed) || 1;
  return mixed.map((value) => value / length) as [number, number, number, number];
}

/** The speed at each frame (F,) from 0 to 1, relative to the 90th percentile. */
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

/** The key times around a time: the last at or before it and the first after it, or the ends of the clip. */
export function segmentOf(times: ArrayLike<number>, time: number, seconds: number): { start: number; stop: number } {
  let [start, stop] = [0, seconds];
  for (let i = 0; i < times.length; i++) {
    if (times[i] <= time + 1e-4) start = Math.max(start, times[i]);
    else stop = Math.min(stop, times[i]);
  }
  return { start, stop };
}

/** A curve relative to a root: the motion of the root is removed, except for its position at one time. */
export function relativeToRoot(paths: Paths, curve: MotionCurve, root: MotionCurve, now: number): MotionCurve {
  const rootNow = positionAt(paths, root, now);
  const positions = curve.positions.map((value, i) => value - root.positions[i] + rootNow[i % 3]);
  const keyPlaces = Float32Array.from(curve.keyPlaces);
  for (const [k, time] of curve.keyTimes.entries()) {
    const place = positionAt(paths, root, time);
    for (let c = 0; c < 3; c++) keyPlaces[3 * k + c] += rootNow[c] - place[c];
  }
  return { ...curve, positions, keyPlaces };
}

/** A smooth line through all positions (3F,), with `pieces` for each frame: Catmull-Rom, with the ends doubled. */
export function smoothPath(places: ArrayLike<number>, width: number, pieces: number): Float32Array {
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
