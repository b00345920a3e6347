/** What the server is told of changed keys: few of them each in full, many by what is done to all of them. */
import type { EditKeysRequest, KeyChange, KeyRuns } from "../../protocol/messages";
import type { CurveChannel } from "./curves";
import { keyFactors } from "./lanes";
import { type KeySelection, movedKeys, runs } from "./selection";

export type KeysMessage = Omit<Partial<EditKeysRequest>, "kind" | "id" | "final" | "number">;

/** What a gesture does to the selected keys, as shown: t' = s t + o, v' = r v + offset of the column. */
export interface Done {
  time: readonly [number, number];
  scale: number;
  offset(channel: number, column: number): number;
}

const FEW = 400; // changed keys that are told one by one

/** A channel's name on the wire; of kinds that may be split it has its number. */
export const wireChannel = (channel: Pick<CurveChannel, "kind">, number: number) =>
  channel.kind === "weights" || channel.kind === "controls" ? `${channel.kind}:${number}` : channel.kind;

/** Every key of which the time, a value or a handle differs. */
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

/** The selected keys as runs, columns with the same keys together; `whole` means keys with all their columns. */
export function runsOf(selection: KeySelection, channels: readonly CurveChannel[], whole: boolean): KeyRuns[] {
  const result: KeyRuns[] = [];
  for (const [number, flags] of selection) {
    const channel = channels[number];
    const n = channel.columns.length;
    const name = { target: channel.target, channel: wireChannel(channel, number) };
    const keys = channel.times.length;
    if (whole) {
      const moved = movedKeys(flags, n);
      result.push({ ...name, columns: null, runs: runs(keys, (key) => moved[key] === 1) });
      continue;
    }
    const alike = new Map<string, KeyRuns & { columns: number[] }>();
    for (let column = 0; column < n; column++) {
      const mine = runs(keys, (key) => flags[key * n + column] === 1);
      if (!mine.length) continue;
      const found = alike.get(JSON.stringify(mine)) ?? { ...name, columns: [], runs: mine };
      found.columns.push(column);
      alike.set(JSON.stringify(mine), found);
    }
    result.push(...[...alike.values()].map((each) => (each.columns.length === n ? { ...each, columns: null } : each)));
  }
  return result;
}

/** One transform for all selected keys, or null where columns go different ways. */
export function transformOf(
  selection: KeySelection,
  kept: readonly CurveChannel[],
  done: Done,
): EditKeysRequest["transform"] {
  let offset: number | null = null;
  const moves =
    done.scale !== 1 ||
    [...selection].some(([number]) => kept[number].columns.some((_, column) => done.offset(number, column) !== 0));
  for (const [number, flags] of selection) {
    const channel = kept[number];
    const n = channel.columns.length;
    // A rotation that is shown with another sign or length than it is stored goes its own way.
    if (moves && keyFactors(channel).some((factor) => Math.abs(factor - 1) > 1e-3)) return null;
    for (let column = 0; column < n; column++) {
      if (!flags.some((flag, at) => flag && at % n === column)) continue;
      const mine = done.offset(number, column);
      if (offset !== null && Math.abs(mine - offset) > 1e-12) return null;
      offset = mine;
    }
  }
  return { keys: runsOf(selection, kept, false), time: [...done.time], value: [done.scale, offset ?? 0] };
}

/** The message of a gesture: single changes, or one transform where there are many and it can be said so. */
export function gestureMessage(
  kept: readonly CurveChannel[],
  shown: ReadonlyMap<number, CurveChannel>,
  selection: KeySelection,
  done: Done | null,
): KeysMessage {
  let count = 0;
  for (const [number] of shown) for (const flag of selection.get(number) ?? []) count += flag;
  const transform = done && count > FEW ? transformOf(selection, kept, done) : null;
  return transform ? { transform } : { changes: changesBetween(kept, shown) };
}
