/** The dope sheet: a row of keys for each channel, and a summary row; hit tests. */
import { type CurveChannel, firstKeyAt } from "./curves";
import type { Box } from "./hits";
import { type KeyPlace, type KeySelection, selectedKeys } from "./selection";
import { type Area, timeAt, type View, xAt } from "./view";

export const ROW_PX = 20; // of a channel's row, as in the list beside it
export const HIT_RADIUS_PX = 6;

/** The content of the sheet: rows are channel indices, below a summary. */
export interface Sheet {
  channels: readonly CurveChannel[];
  rows: readonly number[];
  summary: readonly number[]; // (T,) times of all keys of the rows, sorted and unique
  selection: KeySelection;
  view: View;
  area: Area; // below the ruler; its first ROW_PX px are the summary
  scroll: number; // px
}

/** Times of all keys of these channels, sorted and unique (to 0.1 ms). */
export function allTimes(channels: readonly CurveChannel[], rows: readonly number[]): number[] {
  const seen = new Set<number>();
  for (const row of rows) for (const time of channels[row].times) seen.add(Math.round(time * 1e4));
  return [...seen].sort((a, b) => a - b).map((time) => time / 1e4);
}

/** The row at a y position: -1 is the summary, null is none. */
export function rowAt(sheet: Sheet, y: number): number | null {
  const { area, scroll, rows } = sheet;
  if (y < area.top || y > area.top + area.height) return null;
  if (y < area.top + ROW_PX) return -1;
  const row = Math.floor((y - area.top - ROW_PX + scroll) / ROW_PX);
  return row < rows.length ? row : null;
}

/** The centre of a row, px. */
export const rowMiddle = (sheet: Sheet, row: number) =>
  sheet.area.top + ROW_PX / 2 + (row < 0 ? 0 : ROW_PX * (row + 1) - sheet.scroll);

/** The key nearest to an x position, within the hit radius; -1 without one. */
export function nearestKey(times: ArrayLike<number>, view: View, area: Area, x: number): number {
  const next = firstKeyAt(times, timeAt(view, area, x));
  let best = -1;
  let nearest = HIT_RADIUS_PX;
  for (const key of [next - 1, next]) {
    if (key < 0 || key >= times.length) continue;
    const distance = Math.abs(xAt(view, area, times[key]) - x);
    if (distance > nearest) continue;
    nearest = distance;
    best = key;
  }
  return best;
}

const SAME_TIME_S = 1e-4;

/** The keys at a position: one of a row, or in the summary those of all rows at one time. */
export function keysAt(sheet: Sheet, x: number, y: number): KeyPlace[] {
  const row = rowAt(sheet, y);
  if (row === null) return [];
  if (row >= 0) {
    const channel = sheet.rows[row];
    const key = nearestKey(sheet.channels[channel].times, sheet.view, sheet.area, x);
    return key < 0 ? [] : [{ channel, column: -1, key }];
  }
  const nearest = nearestKey(sheet.summary, sheet.view, sheet.area, x);
  return nearest < 0 ? [] : keysAtTime(sheet.channels, sheet.rows, sheet.summary[nearest]);
}

/** The keys of channels at one time. */
export function keysAtTime(channels: readonly CurveChannel[], rows: readonly number[], time: number): KeyPlace[] {
  return rows.flatMap((channel) => {
    const { times } = channels[channel];
    const key = firstKeyAt(times, time - SAME_TIME_S);
    return key < times.length && times[key] <= time + SAME_TIME_S ? [{ channel, column: -1, key }] : [];
  });
}

/** All keys inside a box; a box within the summary selects from all rows. */
export function keysInBox(sheet: Sheet, box: Box): KeyPlace[] {
  const { area, scroll, rows, view } = sheet;
  const line = area.top + ROW_PX; // bottom of the summary
  const first = Math.floor((Math.max(box.top, line) - line + scroll) / ROW_PX);
  const [from, last] =
    box.bottom < line ? [0, rows.length - 1] : [first, Math.floor((box.bottom - line + scroll) / ROW_PX)];
  const [start, stop] = [timeAt(view, area, box.left), timeAt(view, area, box.right)];
  const places: KeyPlace[] = [];
  for (let row = Math.max(0, from); row <= Math.min(last, rows.length - 1); row++) {
    const { times } = sheet.channels[rows[row]];
    for (let key = firstKeyAt(times, start); key < times.length && times[key] <= stop; key++)
      places.push({ channel: rows[row], column: -1, key });
  }
  return places;
}

/** The box around the selected keys, px; null if they have fewer than two times. */
export function sheetBox(sheet: Sheet): Box | null {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  sheet.rows.forEach((channel, row) => {
    const flags = sheet.selection.get(channel);
    if (!flags) return;
    const { times, columns } = sheet.channels[channel];
    selectedKeys(flags, columns.length).forEach((moved, key) => {
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
