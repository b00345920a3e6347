/** The ruler above keys and curves, and the vertical time lines below it. */
import { type Span, ticks } from "../../shell/ruler";
import type { Paint } from "./layers";
import { type Area, type View, xAt } from "./view";

export const RULER_PX = 20;
const LINE = "#2c3037";
const FAINT = "#24282e";

/** Draws ticks, times and the area outside the clip; `bottom` is the end of the lines. */
export function drawRuler(paint: Paint, view: View, area: Area, rate: number, whole: Span, bottom: number): void {
  const right = area.left + area.width;
  const before = Math.max(area.left, Math.min(right, xAt(view, area, whole.start)));
  const after = Math.max(area.left, Math.min(right, xAt(view, area, whole.stop)));
  paint.fillStyle = "#16181c80";
  paint.fillRect(area.left, RULER_PX, before - area.left, bottom - RULER_PX);
  paint.fillRect(after, RULER_PX, right - after, bottom - RULER_PX);
  for (const tick of ticks({ start: view.start, stop: view.stop }, area.width, rate)) {
    const x = Math.round(xAt(view, area, tick.time)) + 0.5;
    if (x < area.left) continue;
    paint.fillStyle = tick.label ? LINE : FAINT;
    if (tick.label) paint.fillRect(x - 0.5, 12, 1, bottom - 12);
    else paint.fillRect(x - 0.5, 15, 1, RULER_PX - 15);
    if (!tick.label || x + paint.measureText(tick.label).width + 6 > right) continue;
    paint.fillStyle = "#8b919b";
    paint.fillText(tick.label, x + 4, 8);
  }
  paint.fillStyle = LINE;
  paint.fillRect(0, RULER_PX, right, 1);
}

/** Adds a diamond to the path. */
export function addDiamond(
  paint: Pick<CanvasPath, "moveTo" | "lineTo" | "closePath">,
  x: number,
  y: number,
  half: number,
): void {
  paint.moveTo(x, y - half);
  paint.lineTo(x + half, y);
  paint.lineTo(x, y + half);
  paint.lineTo(x - half, y);
  paint.closePath();
}
