/** Keyed channels as the graph editor holds them: flat arrays, replaced whole when they change, never written to. */

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
  readonly after: Float64Array; // (K, n, 2) leaving it
  readonly extrapolation: readonly [string, string]; // "hold", "linear", "cycle" or "cycle_offset"
}

/** What names a channel: no two have the same. Weights and controls may be split, so columns belong to it. */
export function channelName(channel: { target: string; kind: string; columns?: readonly string[] | null }): string {
  const isSplit = channel.kind === "weights" || channel.kind === "controls";
  return `${channel.target}\n${channel.kind}\n${isSplit ? (channel.columns ?? []).join("\n") : ""}`;
}

export const isTurn = (channel: { kind: string }) => channel.kind === "rotation";

/** The first key at or after a time, from 0 to K. */
export function keyFrom(times: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The segment that holds a time: of its first key, from 0 to K - 2 (0 where there is one key). */
export function segmentAt(times: ArrayLike<number>, time: number): number {
  const next = keyFrom(times, time);
  const k = times[next] === time ? next : next - 1;
  return Math.max(0, Math.min(k, times.length - 2));
}

/** Whether the handles of a column's key do not lie on one line, so that its sides go their own ways. */
export function isBroken(channel: CurveChannel, key: number, column: number): boolean {
  const last = channel.times.length - 1;
  if (key <= 0 || key >= last) return false;
  if (channel.segments[key - 1] !== BEZIER || channel.segments[key] !== BEZIER) return true;
  const at = (key * channel.columns.length + column) * 2;
  const { before, after } = channel;
  if (!(before[at] > 0 && after[at] > 0)) return true;
  const arriving = before[at + 1] / before[at];
  const leaving = after[at + 1] / after[at];
  return Math.abs(arriving - leaving) > KINK * Math.max(Math.abs(arriving), Math.abs(leaving), 1);
}

/** As `keyframes.handles` has it: below this part of the slope two sides are one. */
const KINK = 1e-6;

/** A function of a channel that is worked out once: channels are never written to. */
export function onceEach<T>(make: (channel: CurveChannel) => T): (channel: CurveChannel) => T {
  const known = new WeakMap<CurveChannel, T>();
  return (channel) => {
    let found = known.get(channel);
    if (found === undefined) {
      found = make(channel);
      known.set(channel, found);
    }
    return found;
  };
}
