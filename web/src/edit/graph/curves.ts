/** Keyed channels in the graph editor: immutable flat arrays, replaced as a whole. */

export const STEP = 0;
export const LINEAR = 1;
export const BEZIER = 2;

/** One channel with K keys and n columns. A handle is an offset (dt, dv): P1 = P0 + after, P2 = P3 - before. */
export interface CurveChannel {
  readonly target: string;
  readonly kind: string;
  readonly columns: readonly string[];
  readonly times: Float64Array; // (K,) seconds, increasing
  readonly values: Float64Array; // (K, n)
  readonly segments: Uint8Array; // (K - 1,): STEP, LINEAR or BEZIER
  readonly before: Float64Array; // (K, n, 2) arriving at each key
  readonly after: Float64Array; // (K, n, 2) leaving each key
  readonly extrapolation: readonly [string, string]; // "hold", "linear", "cycle" or "cycle_offset"
}

/** A unique name of a channel. Weights and controls may be split, so their columns are part of it. */
export function channelName(channel: { target: string; kind: string; columns?: readonly string[] | null }): string {
  const isSplit = channel.kind === "weights" || channel.kind === "controls";
  return `${channel.target}\n${channel.kind}\n${isSplit ? (channel.columns ?? []).join("\n") : ""}`;
}

export const isRotation = (channel: { kind: string }) => channel.kind === "rotation";

/** The index of the first key at or after a time, from 0 to K. */
export function firstKeyAt(times: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The segment of a time, as the index of its first key: 0 to K - 2 (0 with one key). */
export function segmentAt(times: ArrayLike<number>, time: number): number {
  const next = firstKeyAt(times, time);
  const k = times[next] === time ? next : next - 1;
  return Math.max(0, Math.min(k, times.length - 2));
}

/** Whether the handles of a column's key are not collinear. */
export function isBroken(channel: CurveChannel, key: number, column: number): boolean {
  const last = channel.times.length - 1;
  if (key <= 0 || key >= last) return false;
  if (channel.segments[key - 1] !== BEZIER || channel.segments[key] !== BEZIER) return true;
  const at = (key * channel.columns.length + column) * 2;
  const { before, after } = channel;
  if (!(before[at] > 0 && after[at] > 0)) return true;
  const arriving = before[at + 1] / before[at];
  const leaving = after[at + 1] / after[at];
  return Math.abs(arriving - leaving) > KINK_TOLERANCE * Math.max(Math.abs(arriving), Math.abs(leaving), 1);
}

/** As on the server: slopes that differ by less than this ratio are equal. */
const KINK_TOLERANCE = 1e-6;

/** Memoises a function of a channel; channels are immutable. */
export function memoise<T>(make: (channel: CurveChannel) => T): (channel: CurveChannel) => T {
  const known = new WeakMap<CurveChannel, T>();
  return (channel) => {
    let result = known.get(channel);
    if (result === undefined) {
      result = make(channel);
      known.set(channel, result);
    }
    return result;
  };
}
