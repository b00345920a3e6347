/**
 * Dragging a handle: it follows the pointer within its segment, and the other side turns with it unless the key is
 * broken.
 */
import { BEZIER, type CurveChannel, isBroken } from "./curves";
import type { KeyPlace } from "./selection";

export type Side = "before" | "after";

export interface HandlePlace extends KeyPlace {
  side: Side;
}

const MAX_LENGTH_RATIO = 0.95; // of its segment; if both handles had full length, dx/ds would be 0 in the middle
const MIN_LENGTH_RATIO = 0.01; // of its segment, if the other side turns with it: a slope needs a length

/** Whether a key has a handle on a side, which needs a Bezier segment there. */
export const hasHandle = (channel: CurveChannel, key: number, side: Side) =>
  side === "before"
    ? key > 0 && channel.segments[key - 1] === BEZIER
    : key + 1 < channel.times.length && channel.segments[key] === BEZIER;

/** The offset of a handle's end from its key (dt, dv), with the sign of its side. */
export function handleOffset(channel: CurveChannel, { key, column, side }: HandlePlace): [number, number] {
  const at = 2 * (key * channel.columns.length + column);
  const sign = side === "before" ? -1 : 1;
  return [sign * channel[side][at], sign * channel[side][at + 1]];
}

/** The channel with a handle's end at (dt, dv) from its key; `alone` keeps the other side. */
export function withHandle(
  channel: CurveChannel,
  place: HandlePlace,
  dt: number,
  dv: number,
  alone = false,
): CurveChannel {
  const { key, column, side } = place;
  const at = 2 * (key * channel.columns.length + column);
  const sign = side === "before" ? -1 : 1;
  const other: Side = side === "before" ? "after" : "before";
  const length =
    side === "before" ? channel.times[key] - channel.times[key - 1] : channel.times[key + 1] - channel.times[key];
  const turns = !alone && hasHandle(channel, key, other) && !isBroken(channel, key, column);
  const long = Math.min(MAX_LENGTH_RATIO * length, Math.max(turns ? MIN_LENGTH_RATIO * length : 0, sign * dt));
  const handles = { before: channel.before.slice(), after: channel.after.slice() };
  handles[side][at] = long;
  handles[side][at + 1] = sign * dv;
  if (turns) handles[other][at + 1] = (handles[side][at + 1] / long) * handles[other][at];
  return { ...channel, ...handles };
}
