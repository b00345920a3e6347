/** The selected keys: a flag for each key and column of a channel. Selections are immutable. */
import type { CurveChannel } from "./curves";

/** Flags (K, n) for each channel index with a selected key. */
export type KeySelection = ReadonlyMap<number, Uint8Array>;

export const EMPTY_SELECTION: KeySelection = new Map();

/** One key of one column; a column of -1 means all, as in the dope sheet. */
export interface KeyPlace {
  channel: number;
  column: number;
  key: number;
}

export type SelectMode = "replace" | "add" | "remove" | "toggle";

/** The effect of modifiers on a click or a box: Shift adds, Ctrl removes. */
export const selectModeOf = (event: { shiftKey: boolean; ctrlKey: boolean; metaKey: boolean }): SelectMode =>
  event.shiftKey ? "add" : event.ctrlKey || event.metaKey ? "remove" : "replace";

/** The selection after these keys were selected, added, removed or toggled. */
export function changeSelection(
  selection: KeySelection,
  channels: readonly CurveChannel[],
  places: Iterable<KeyPlace>,
  how: SelectMode,
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
export function isKeySelected(selection: KeySelection, channel: number, key: number, columns: number): boolean {
  const flags = selection.get(channel);
  if (!flags) return false;
  for (let at = key * columns; at < (key + 1) * columns; at++) if (flags[at]) return true;
  return false;
}

/** (K,) the keys with any selected column, which move in time. */
export function selectedKeys(flags: Uint8Array, columns: number): Uint8Array {
  const keys = flags.length / columns;
  const result = new Uint8Array(keys);
  for (let k = 0; k < keys; k++) for (let c = 0; c < columns && !result[k]; c++) result[k] = flags[k * columns + c];
  return result;
}

/** The number of selected keys, each counted once per channel. */
export function countKeys(selection: KeySelection, channels: readonly CurveChannel[]): number {
  let count = 0;
  for (const [channel, flags] of selection) {
    for (const moved of selectedKeys(flags, channels[channel].columns.length)) count += moved;
  }
  return count;
}

/** Runs [first, last + 1] of the keys that pass a test. */
export function findRuns(count: number, holds: (key: number) => boolean): [number, number][] {
  const result: [number, number][] = [];
  for (let k = 0; k < count; k++) {
    if (!holds(k)) continue;
    const last = result.at(-1);
    if (last && last[1] === k) last[1] = k + 1;
    else result.push([k, k + 1]);
  }
  return result;
}

/** The part of a selection that is still valid: channels are matched by name, and need the same number of keys. */
export function carrySelection(
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
