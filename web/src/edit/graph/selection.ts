/**
 * Which keys are selected: for each channel a flag for every key and column. Selections are values: changes make new
 * ones.
 */
import type { CurveChannel } from "./curves";

/** Flags (K, n) for each channel that has a selected key; channels are numbers among all. */
export type KeySelection = ReadonlyMap<number, Uint8Array>;

export const NOTHING: KeySelection = new Map();

/** One key of one column; a column of -1 means all of them, as the dope sheet selects. */
export interface KeyPlace {
  channel: number;
  column: number;
  key: number;
}

export type How = "replace" | "add" | "remove" | "toggle";

/** How modifiers change what a click or a box does: Shift adds, Ctrl takes away. */
export const howOf = (event: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean }): How =>
  event.shiftKey ? "add" : event.ctrlKey || event.metaKey ? "remove" : "replace";

/** The selection with these keys selected, added, taken away, or turned over. */
export function selected(
  selection: KeySelection,
  channels: readonly CurveChannel[],
  places: Iterable<KeyPlace>,
  how: How,
): KeySelection {
  const result = new Map<number, Uint8Array>();
  if (how !== "replace") for (const [channel, flags] of selection) result.set(channel, flags.slice());
  for (const { channel, column, key } of places) {
    const n = channels[channel].columns.length;
    let flags = result.get(channel);
    if (!flags) {
      flags = new Uint8Array(channels[channel].times.length * n);
      result.set(channel, flags);
    }
    const [from, to] = column < 0 ? [0, n] : [column, column + 1];
    for (let c = from; c < to; c++) {
      const at = key * n + c;
      flags[at] = how === "remove" ? 0 : how === "toggle" ? 1 - flags[at] : 1;
    }
  }
  for (const [channel, flags] of result) if (!flags.includes(1)) result.delete(channel);
  return result;
}

export const isSelected = (selection: KeySelection, channel: number, at: number) => selection.get(channel)?.[at] === 1;

/** Whether any column of a channel's key is selected. */
export function keySelected(selection: KeySelection, channel: number, key: number, columns: number): boolean {
  const flags = selection.get(channel);
  if (!flags) return false;
  for (let at = key * columns; at < (key + 1) * columns; at++) if (flags[at]) return true;
  return false;
}

/** (K,) which keys of a channel move in time: those of which any column is selected. */
export function movedKeys(flags: Uint8Array, columns: number): Uint8Array {
  const keys = flags.length / columns;
  const result = new Uint8Array(keys);
  for (let k = 0; k < keys; k++) for (let c = 0; c < columns && !result[k]; c++) result[k] = flags[k * columns + c];
  return result;
}

/** How many keys are selected, counted for each channel once. */
export function countKeys(selection: KeySelection, channels: readonly CurveChannel[]): number {
  let count = 0;
  for (const [channel, flags] of selection) {
    for (const moved of movedKeys(flags, channels[channel].columns.length)) count += moved;
  }
  return count;
}

/** Runs [first, last + 1] of the keys that a test holds for. */
export function runs(count: number, holds: (key: number) => boolean): [number, number][] {
  const result: [number, number][] = [];
  for (let k = 0; k < count; k++) {
    if (!holds(k)) continue;
    const last = result.at(-1);
    if (last && last[1] === k) last[1] = k + 1;
    else result.push([k, k + 1]);
  }
  return result;
}

/** The part of a selection that still fits: channels are found by name, and keep it where they have as many keys. */
export function carried(
  selection: KeySelection,
  before: readonly CurveChannel[],
  after: readonly CurveChannel[],
  nameOf: (channel: CurveChannel) => string,
): KeySelection {
  const numbers = new Map(after.map((channel, index) => [nameOf(channel), index]));
  const result = new Map<number, Uint8Array>();
  for (const [old, flags] of selection) {
    const number = before[old] && numbers.get(nameOf(before[old]));
    if (number !== undefined && after[number].times.length * after[number].columns.length === flags.length)
      result.set(number, flags);
  }
  return result;
}
