/** The messages of changed keys: few keys one by one, many as one transform. */
import type { EditKeysRequest, KeyChange, KeyRuns } from "../../protocol/messages";
import type { CurveChannel } from "./curves";
import { keyFactors } from "./lanes";
import { findRuns, type KeySelection, selectedKeys } from "./selection";

export type KeysMessage = Omit<Partial<EditKeysRequest>, "kind" | "id" | "final" | "number">;

/** The transform of the selected keys, as shown: t' = s t + o, v' = r v + offset of the column. */
export interface SelectionTransform {
  time: readonly [number, number];
  scale: number;
  offset(channel: number, column: number): number;
}

const MAX_SINGLE_CHANGES = 400; // more keys are sent as one transform

/** The name of a channel in messages; kinds that may be split have their index. */
export const wireChannel = (channel: Pick<CurveChannel, "kind">, number: number) =>
  channel.kind === "weights" || channel.kind === "controls" ? `${channel.kind}:${number}` : channel.kind;

/** All keys whose time, value or handles differ. */
export function changesBetween(kept: readonly CurveChannel[], shown: ReadonlyMap<number, CurveChannel>): KeyChange[] {
  const changes: KeyChange[] = [];
  for (const [number, now] of shown) {
    const old = kept[number];
    const n = old.columns.length;
    const name = { target: old.target, channel: wireChannel(old, number) };
    for (let key = 0; key < old.times.length; key++) {
      const time = now.times[key] !== old.times[key] ? { time: now.times[key] } : {};
      const first = changes.length;
      for (let column = 0; column < n && old.values.length; column++) {
        const at = key * n + column;
        const change: Partial<KeyChange> = {};
        if (now.values[at] !== old.values[at]) change.value = now.values[at];
        for (const side of ["before", "after"] as const) {
          const [dt, dv] = [now[side][2 * at], now[side][2 * at + 1]];
          if (dt !== old[side][2 * at] || dv !== old[side][2 * at + 1]) change[side] = [dt, dv];
        }
        if (Object.keys(change).length) changes.push({ ...name, key, column, ...change } as KeyChange);
      }
      if (!("time" in time)) continue;
      if (changes.length > first) Object.assign(changes[first], time);
      else changes.push({ ...name, key, ...time } as KeyChange);
    }
  }
  return changes;
}

/** The selected keys as runs, with equal columns merged; `whole` selects keys with all their columns. */
export function runsOf(selection: KeySelection, channels: readonly CurveChannel[], whole: boolean): KeyRuns[] {
  const result: KeyRuns[] = [];
  for (const [number, flags] of selection) {
    const channel = channels[number];
    const n = channel.columns.length;
    const name = { target: channel.target, channel: wireChannel(channel, number) };
    const keys = channel.times.length;
    if (whole) {
      const moved = selectedKeys(flags, n);
      result.push({ ...name, columns: null, runs: findRuns(keys, (key) => moved[key] === 1) });
      continue;
    }
    const alike = new Map<string, KeyRuns & { columns: number[] }>();
    for (let column = 0; column < n; column++) {
      const columnRuns = findRuns(keys, (key) => flags[key * n + column] === 1);
      if (!columnRuns.length) continue;
      const group = alike.get(JSON.stringify(columnRuns)) ?? { ...name, columns: [], runs: columnRuns };
      group.columns.push(column);
      alike.set(JSON.stringify(columnRuns), group);
    }
    result.push(
      ...[...alike.values()].map((group) => (group.columns.length === n ? { ...group, columns: null } : group)),
    );
  }
  return result;
}

/** One transform for all selected keys; null if the columns need different ones. */
export function sharedTransform(
  selection: KeySelection,
  kept: readonly CurveChannel[],
  done: SelectionTransform,
): EditKeysRequest["transform"] {
  let offset: number | null = null;
  const moves =
    done.scale !== 1 ||
    [...selection].some(([number]) => kept[number].columns.some((_, column) => done.offset(number, column) !== 0));
  for (const [number, flags] of selection) {
    const channel = kept[number];
    const n = channel.columns.length;
    // A rotation that is shown with another sign or length than its stored value needs its own transform.
    if (moves && keyFactors(channel).some((factor) => Math.abs(factor - 1) > 1e-3)) return null;
    for (let column = 0; column < n; column++) {
      if (!flags.some((flag, at) => flag && at % n === column)) continue;
      const columnOffset = done.offset(number, column);
      if (offset !== null && Math.abs(columnOffset - offset) > 1e-12) return null;
      offset = columnOffset;
    }
  }
  return { keys: runsOf(selection, kept, false), time: [...done.time], value: [done.scale, offset ?? 0] };
}

/** The message of a drag: single changes, or one transform if there are many and one is enough. */
export function dragMessage(
  kept: readonly CurveChannel[],
  shown: ReadonlyMap<number, CurveChannel>,
  selection: KeySelection,
  done: SelectionTransform | null,
): KeysMessage {
  let count = 0;
  for (const [number] of shown) for (const flag of selection.get(number) ?? []) count += flag;
  const transform = done && count > MAX_SINGLE_CHANGES ? sharedTransform(selection, kept, done) : null;
  return transform ? { transform } : { changes: changesBetween(kept, shown) };
}
