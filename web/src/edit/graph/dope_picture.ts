/** Draws the dope sheet: a diamond for each key; of overlapping keys only the first. */
import type { Span } from "../../shell/ruler";
import { firstKeyAt } from "./curves";
import { ROW_PX, rowMiddle, type Sheet, sheetBox } from "./dope";
import { drawBox, drawSelectionBox, type PointerState } from "./graph_picture";
import type { Paint } from "./layers";
import { addDiamond, drawRuler } from "./ruler_picture";
import { selectedKeys } from "./selection";
import { xAt } from "./view";

const MIN_KEY_DISTANCE_PX = 3;
const KEY_COLOUR = "#b9bdc4";
const AMBER = "#f2a33a";

/** Draws the rows with their keys; `chosen` rows are highlighted, channels in `without` belong to the top layer. */
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
  clipRows(paint, sheet);
  sheet.rows.forEach((channel, row) => {
    const y = rowMiddle(sheet, row);
    if (y < area.top || y > bottom + ROW_PX || !chosen.has(channel)) return;
    paint.fillStyle = "#f2a33a12";
    paint.fillRect(area.left, y - ROW_PX / 2, area.width, ROW_PX);
  });
  paint.restore();
  drawRuler(paint, sheet.view, area, rate, whole, bottom);
  paint.fillStyle = "#2c3037";
  paint.fillRect(0, area.top + ROW_PX, area.left + area.width, 1);
  paint.save();
  paint.beginPath();
  paint.rect(area.left, area.top, area.width, area.height);
  paint.clip();
  drawKeys(paint, sheet, sheet.summary, rowMiddle(sheet, -1), "#8a6a36", 4.5, () => true);
  clipRows(paint, sheet);
  sheet.rows.forEach((channel, row) => {
    const y = rowMiddle(sheet, row);
    if (y < area.top - ROW_PX || y > bottom + ROW_PX || without.has(channel)) return;
    drawKeys(paint, sheet, sheet.channels[channel].times, y, KEY_COLOUR, 4, () => true);
  });
  paint.restore();
}

/** Draws the selected keys, the channels of a drag, and the selection box. */
export function drawSheetTop(
  paint: Paint,
  sheet: Sheet,
  moving: ReadonlySet<number>,
  pointerState: PointerState,
): void {
  const { area } = sheet;
  paint.save();
  paint.save();
  clipRows(paint, sheet);
  sheet.rows.forEach((channel, row) => {
    const y = rowMiddle(sheet, row);
    if (y < area.top - ROW_PX || y > area.top + area.height + ROW_PX) return;
    const { times, columns } = sheet.channels[channel];
    if (moving.has(channel)) drawKeys(paint, sheet, times, y, KEY_COLOUR, 4, () => true);
    const flags = sheet.selection.get(channel);
    if (!flags) return;
    const moved = selectedKeys(flags, columns.length);
    drawKeys(paint, sheet, times, y, AMBER, 5, (key) => moved[key] === 1);
  });
  const around = sheetBox(sheet);
  if (around) drawSelectionBox(paint, around, pointerState.edge ?? null);
  paint.restore();
  drawSummary(paint, sheet);
  const { key } = pointerState;
  if (key && key.key < (sheet.channels[key.channel]?.times.length ?? 0)) {
    const row = sheet.rows.indexOf(key.channel);
    paint.beginPath();
    addDiamond(paint, xAt(sheet.view, area, sheet.channels[key.channel].times[key.key]), rowMiddle(sheet, row), 7);
    paint.strokeStyle = "#d9dce1";
    paint.stroke();
  }
  if (pointerState.box) drawBox(paint, pointerState.box);
  paint.restore();
}

/** Draws the selected keys in the summary. */
function drawSummary(paint: Paint, sheet: Sheet): void {
  const times = new Set<number>();
  for (const [channel, flags] of sheet.selection) {
    if (!sheet.rows.includes(channel)) continue;
    const { times: all, columns } = sheet.channels[channel];
    selectedKeys(flags, columns.length).forEach((moved, key) => {
      if (moved) times.add(Math.round(all[key] * 1e4));
    });
  }
  const sorted = [...times].sort((a, b) => a - b).map((time) => time / 1e4);
  paint.save();
  paint.beginPath();
  paint.rect(sheet.area.left, sheet.area.top, sheet.area.width, ROW_PX);
  paint.clip();
  drawKeys(paint, sheet, sorted, rowMiddle(sheet, -1), AMBER, 5, () => true);
  paint.restore();
}

function clipRows(paint: Paint, { area }: Sheet): void {
  paint.beginPath();
  paint.rect(area.left, area.top + ROW_PX + 1, area.width, area.height - ROW_PX - 1);
  paint.clip();
}

/** Draws diamonds at times along a row. */
function drawKeys(
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
  for (let key = firstKeyAt(times, view.start - 0.1); key < times.length && times[key] <= view.stop + 0.1; key++) {
    if (!holds(key)) continue;
    const at = xAt(view, area, times[key]);
    if (at - x < MIN_KEY_DISTANCE_PX) continue;
    x = at;
    addDiamond(paint, x, y, half);
  }
  paint.fillStyle = colour;
  paint.fill();
}
