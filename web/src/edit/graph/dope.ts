/** The dope sheet: a row of keys for each channel, one above for all of them; what lies where. */
import { type CurveChannel, keyFrom } from "./curves";
import type { Box } from "./hits";
import { type KeyPlace, type KeySelection, movedKeys } from "./selection";
import { type Area, timeAt, type View, xAt } from "./view";

export const ROW = 20; // px of a channel's row, as in the list beside it
export const REACH = 6;

/** What the sheet shows: rows are numbers of channels, the first line sums them up. */
export interface Sheet {
  channels: readonly CurveChannel[];
  rows: readonly number[];
  summary: readonly number[]; // (T,) times of all keys of the rows, sorted, each once
  selection: KeySelection;
  view: View;
  area: Area; // below the ruler; its first ROW px are the summary
  scroll: number; // px
}

/** Times of all keys of these channels, sorted, each once (to a tenth of a millisecond). */
export function allTimes(channels: readonly CurveChannel[], rows: readonly number[]): number[] {
  const seen = new Set<number>();
  for (const row of rows) for (const time of channels[row].times) seen.add(Math.round(time * 1e4));
  return [...seen].sort((a, b) => a - b).map((time) => time / 1e4);
}

/** The row at a height: -1 is the summary, null none. */
export function rowAt(sheet: Sheet, y: number): number | null {
  const { area, scroll, rows } = sheet;
  if (y < area.top || y > area.top + area.height) return null;
  if (y < area.top + ROW) return -1;
  const row = Math.floor((y - area.top - ROW + scroll) / ROW);
  return row < rows.length ? row : null;
}

/** The middle of a row, px. */
export const rowMiddle = (sheet: Sheet, row: number) =>
  sheet.area.top + ROW / 2 + (row < 0 ? 0 : ROW * (row + 1) - sheet.scroll);

/** The key of a time series nearest to a place, within reach. */
export function nearestKey(times: ArrayLike<number>, view: View, area: Area, x: number): number {
  const next = keyFrom(times, timeAt(view, area, x));
  let best = -1;
  let nearest = REACH;
  for (const key of [next - 1, next]) {
    if (key < 0 || key >= times.length) continue;
    const distance = Math.abs(xAt(view, area, times[key]) - x);
    if (distance > nearest) continue;
    nearest = distance;
    best = key;
  }
  return best;
}

const SAME = 1e-4; // seconds

/** The keys at a place: one of a row, or those of all rows at one time in the summary. */
export function keysAt(sheet: Sheet, x: number, y: number): KeyPlace[] {
  const row = rowAt(sheet, y);
  if (row === null) return [];
  if (row >= 0) {
    const channel = sheet.rows[row];
    const key = nearestKey(sheet.channels[channel].times, sheet.view, sheet.area, x);
    return key < 0 ? [] : [{ channel, column: -1, key }];
  }
  const found = nearestKey(sheet.summary, sheet.view, sheet.area, x);
  return found < 0 ? [] : keysAtTime(sheet.channels, sheet.rows, sheet.summary[found]);
}

/** The keys of channels at one time. */
export function keysAtTime(channels: readonly CurveChannel[], rows: readonly number[], time: number): KeyPlace[] {
  return rows.flatMap((channel) => {
    const { times } = channels[channel];
    const key = keyFrom(times, time - SAME);
    return key < times.length && times[key] <= time + SAME ? [{ channel, column: -1, key }] : [];
  });
}

/** All keys inside a box; one within the summary takes those of all rows. */
export function keysInBox(sheet: Sheet, box: Box): KeyPlace[] {
  const { area, scroll, rows, view } = sheet;
  const line = area.top + ROW; // below the summary
  const first = Math.floor((Math.max(box.top, line) - line + scroll) / ROW);
  const [from, last] =
    box.bottom < line ? [0, rows.length - 1] : [first, Math.floor((box.bottom - line + scroll) / ROW)];
  const [start, stop] = [timeAt(view, area, box.left), timeAt(view, area, box.right)];
  const found: KeyPlace[] = [];
  for (let row = Math.max(0, from); row <= Math.min(last, rows.length - 1); row++) {
    const { times } = sheet.channels[rows[row]];
    for (let key = keyFrom(times, start); key < times.length && times[key] <= stop; key++)
      found.push({ channel: rows[row], column: -1, key });
  }
  return found;
}

/** The box around the selected keys, px; null where there are fewer than two times. */
export function sheetBox(sheet: Sheet): Box | null {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  sheet.rows.forEach((channel, row) => {
    const flags = sheet.selection.get(channel);
    if (!flags) return;
    const { times, columns } = sheet.channels[channel];
    movedKeys(flags, columns.length).forEach((moved, key) => {
      if (!moved) return;
      const x = xAt(sheet.view, sheet.area, times[key]);
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x);
    });
    const y = rowMiddle(sheet, row);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  });
  return box.right - box.left > 1 ? box : null;
}
