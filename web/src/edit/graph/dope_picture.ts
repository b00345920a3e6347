/** The dope sheet as a picture: a diamond for each key; of keys that would cover each other only the first. */
import type { Span } from "../../shell/ruler";
import { keyFrom } from "./curves";
import { ROW, rowMiddle, type Sheet, sheetBox } from "./dope";
import { drawAround, drawBox, type Pointing } from "./graph_picture";
import type { Paint } from "./layers";
import { diamond, drawRuler } from "./ruler_picture";
import { movedKeys } from "./selection";
import { xAt } from "./view";

const CLOSEST = 3; // px
const KEY = "#b9bdc4";
const AMBER = "#f2a33a";

/** Rows with their keys; `chosen` rows are lit, channels in `without` are left to the layer above. */
export function drawSheet(
  paint: Paint,
  sheet: Sheet,
  chosen: ReadonlySet<number>,
  without: ReadonlySet<number>,
  rate: number,
  whole: Span,
): void {
  const { area } = sheet;
  const bottom = area.top + area.height;
  paint.save();
  rowsClip(paint, sheet);
  sheet.rows.forEach((channel, row) => {
    const y = rowMiddle(sheet, row);
    if (y < area.top || y > bottom + ROW || !chosen.has(channel)) return;
    paint.fillStyle = "#f2a33a12";
    paint.fillRect(area.left, y - ROW / 2, area.width, ROW);
  });
  paint.restore();
  drawRuler(paint, sheet.view, area, rate, whole, bottom);
  paint.fillStyle = "#2c3037";
  paint.fillRect(0, area.top + ROW, area.left + area.width, 1);
  paint.save();
  paint.beginPath();
  paint.rect(area.left, area.top, area.width, area.height);
  paint.clip();
  series(paint, sheet, sheet.summary, rowMiddle(sheet, -1), "#8a6a36", 4.5, () => true);
  rowsClip(paint, sheet);
  sheet.rows.forEach((channel, row) => {
    const y = rowMiddle(sheet, row);
    if (y < area.top - ROW || y > bottom + ROW || without.has(channel)) return;
    series(paint, sheet, sheet.channels[channel].times, y, KEY, 4, () => true);
  });
  paint.restore();
}

/** The selected keys, those that move, and the pointer's box. */
export function drawSheetTop(paint: Paint, sheet: Sheet, moving: ReadonlySet<number>, pointing: Pointing): void {
  const { area } = sheet;
  paint.save();
  paint.save();
  rowsClip(paint, sheet);
  sheet.rows.forEach((channel, row) => {
    const y = rowMiddle(sheet, row);
    if (y < area.top - ROW || y > area.top + area.height + ROW) return;
    const { times, columns } = sheet.channels[channel];
    if (moving.has(channel)) series(paint, sheet, times, y, KEY, 4, () => true);
    const flags = sheet.selection.get(channel);
    if (!flags) return;
    const moved = movedKeys(flags, columns.length);
    series(paint, sheet, times, y, AMBER, 5, (key) => moved[key] === 1);
  });
  const around = sheetBox(sheet);
  if (around) drawAround(paint, around, pointing.edge ?? null);
  paint.restore();
  drawSummary(paint, sheet);
  const { key } = pointing;
  if (key && key.key < (sheet.channels[key.channel]?.times.length ?? 0)) {
    const row = sheet.rows.indexOf(key.channel);
    paint.beginPath();
    diamond(paint, xAt(sheet.view, area, sheet.channels[key.channel].times[key.key]), rowMiddle(sheet, row), 7);
    paint.strokeStyle = "#d9dce1";
    paint.stroke();
  }
  if (pointing.box) drawBox(paint, pointing.box);
  paint.restore();
}

/** The summary's diamonds of selected keys. */
function drawSummary(paint: Paint, sheet: Sheet): void {
  const times = new Set<number>();
  for (const [channel, flags] of sheet.selection) {
    if (!sheet.rows.includes(channel)) continue;
    const { times: all, columns } = sheet.channels[channel];
    movedKeys(flags, columns.length).forEach((moved, key) => {
      if (moved) times.add(Math.round(all[key] * 1e4));
    });
  }
  const sorted = [...times].sort((a, b) => a - b).map((time) => time / 1e4);
  paint.save();
  paint.beginPath();
  paint.rect(sheet.area.left, sheet.area.top, sheet.area.width, ROW);
  paint.clip();
  series(paint, sheet, sorted, rowMiddle(sheet, -1), AMBER, 5, () => true);
  paint.restore();
}

function rowsClip(paint: Paint, { area }: Sheet): void {
  paint.beginPath();
  paint.rect(area.left, area.top + ROW + 1, area.width, area.height - ROW - 1);
  paint.clip();
}

/** Diamonds at times along a row. */
function series(
  paint: Paint,
  sheet: Sheet,
  times: ArrayLike<number>,
  y: number,
  colour: string,
  half: number,
  holds: (key: number) => boolean,
): void {
  const { view, area } = sheet;
  let x = -Infinity;
  paint.beginPath();
  for (let key = keyFrom(times, view.start - 0.1); key < times.length && times[key] <= view.stop + 0.1; key++) {
    if (!holds(key)) continue;
    const at = xAt(view, area, times[key]);
    if (at - x < CLOSEST) continue;
    x = at;
    diamond(paint, x, y, half);
  }
  paint.fillStyle = colour;
  paint.fill();
}
