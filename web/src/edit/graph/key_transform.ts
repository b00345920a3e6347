/**
 * Moves and stretches selected keys in time and value, with their handles: t' = s t + o, v' = r v + p.
 *
 * For a segment that becomes q times as long, its handles become q dt and q f dv, with f = r / s at a selected key and
 * 1 at others: a move keeps slopes, a stretch keeps the shape, and smooth keys stay smooth.
 */
import type { CurveChannel } from "./curves";
import { type KeySelection, selectedKeys } from "./selection";

/** t' = time[0] t + time[1], v' = scale v + offsets[column]. */
export interface Transform {
  time: readonly [number, number];
  scale: number;
  offsets: ArrayLike<number>; // (n,)
}

/** Transforms the flagged keys of a channel; `factors` (K,) convert stored values to shown ones. */
export function transformKeys(
  channel: CurveChannel,
  flags: Uint8Array,
  { time, scale, offsets }: Transform,
  factors?: Float64Array,
): CurveChannel {
  const n = channel.columns.length;
  const keys = channel.times.length;
  const moves = selectedKeys(flags, n);
  const times = channel.times.slice();
  const values = channel.values.slice();
  const before = channel.before.slice();
  const after = channel.after.slice();
  for (let k = 0; k < keys; k++) if (moves[k]) times[k] = time[0] * times[k] + time[1];
  if (values.length === 0) return { ...channel, times }; // only its times are known: the server transforms the handles
  // Exact if both ends move or stay, so that a move causes no rounding errors.
  const growth = (k: number): number => {
    if (moves[k] === moves[k + 1]) return moves[k] ? time[0] : 1;
    return (times[k + 1] - times[k]) / (channel.times[k + 1] - channel.times[k]);
  };
  for (let k = 0; k < keys; k++) {
    const arriving = k > 0 ? growth(k - 1) : 1;
    const leaving = k + 1 < keys ? growth(k) : 1;
    for (let c = 0; c < n; c++) {
      const at = k * n + c;
      const factor = (flags[at] ? scale : 1) / (moves[k] ? time[0] : 1);
      if (flags[at]) values[at] = scale * values[at] + offsets[c] / (factors ? factors[k] : 1);
      before[2 * at] *= arriving;
      before[2 * at + 1] *= arriving * factor;
      after[2 * at] *= leaving;
      after[2 * at + 1] *= leaving * factor;
    }
  }
  return { ...channel, times, values, before, after };
}

/** The minimum time between two keys: a frame, or their distance if that is less. */
const gap = (times: ArrayLike<number>, k: number, frame: number) => Math.min(frame, times[k + 1] - times[k]) * 0.999;

/** How far the selected keys can move back and forward without passing a key that stays. */
export function roomToMove(
  selection: KeySelection,
  channels: readonly CurveChannel[],
  frame: number,
): [number, number] {
  let least = -Infinity;
  let most = Infinity;
  for (const [number, flags] of selection) {
    const { times, columns } = channels[number];
    const moves = selectedKeys(flags, columns.length);
    least = Math.max(least, -times[Math.max(0, moves.indexOf(1))]); // none before time 0
    for (let k = 0; k + 1 < times.length; k++) {
      if (moves[k] === moves[k + 1]) continue;
      const room = times[k + 1] - times[k] - gap(times, k, frame);
      if (moves[k]) most = Math.min(most, room);
      else least = Math.max(least, -room);
    }
  }
  return [least, most];
}

/** The minimum and maximum factor by which the selected keys can be stretched in time around a pivot. */
export function roomToStretch(
  selection: KeySelection,
  channels: readonly CurveChannel[],
  pivot: number,
  frame: number,
): [number, number] {
  let least = 0;
  let most = Infinity;
  // The factor s has to satisfy u s >= w: a lower bound if u > 0, an upper bound if u < 0.
  const hold = (u: number, w: number): void => {
    if (u > 1e-12) least = Math.max(least, w / u);
    else if (u < -1e-12) most = Math.min(most, w / u);
  };
  for (const [number, flags] of selection) {
    const { times, columns } = channels[number];
    const moves = selectedKeys(flags, columns.length);
    const first = times[Math.max(0, moves.indexOf(1))];
    hold(first - pivot, -pivot); // none before time 0
    for (let k = 0; k + 1 < times.length; k++) {
      const room = gap(times, k, frame);
      if (moves[k] && moves[k + 1]) hold(times[k + 1] - times[k], Math.min(room, 1e-3));
      else if (moves[k + 1]) hold(times[k + 1] - pivot, times[k] + room - pivot);
      else if (moves[k]) hold(pivot - times[k], pivot + room - times[k + 1]);
    }
  }
  return [Math.min(least, 1), Math.max(most, 1)];
}
