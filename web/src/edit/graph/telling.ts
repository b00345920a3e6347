/** What the server is told of changed keys: each change in full, so that what is drawn is what it gets. */
import type { EditKeysRequest, KeyChange, KeyRef } from "../../protocol/messages";
import { movedKeys, type KeySelection } from "./selection";
import type { CurveChannel } from "./curves";

export type KeysMessage = Omit<Partial<EditKeysRequest>, "kind" | "id" | "final" | "number">;

/** Every key of which the time, a value or a handle differs. */
export function changesBetween(kept: readonly CurveChannel[], shown: ReadonlyMap<number, CurveChannel>): KeyChange[] {
  const changes: KeyChange[] = [];
  for (const [number, now] of shown) {
    const old = kept[number];
    const n = old.columns.length;
    const name = { target: old.target, channel: old.kind };
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

/** The selected keys by name: for operations on tangents with their columns, for others whole. */
export function refsOf(selection: KeySelection, channels: readonly CurveChannel[], columns: boolean): KeyRef[] {
  const refs: KeyRef[] = [];
  for (const [number, flags] of selection) {
    const { target, kind, columns: names } = channels[number];
    const n = names.length;
    movedKeys(flags, n).forEach((moved, key) => {
      if (!moved) return;
      const chosen = names.flatMap((_, column) => (flags[key * n + column] ? [column] : []));
      if (!columns || chosen.length === n) refs.push({ target, channel: kind, key, column: null });
      else for (const column of chosen) refs.push({ target, channel: kind, key, column });
    });
  }
  return refs;
}
