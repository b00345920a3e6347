/** The timeline as a picture: ruler, range, label spans, moments as diamonds, takes as bars; and what lies where. */
import { labelColour } from "../labels";
import type { TakeEntry } from "../protocol/messages";
import { type Span, ticks, xOf } from "./ruler";
import { clock } from "./time";
import type { Playing } from "./transport";

export const RULER = 24; // px
export const GUTTER = 72; // px at the left, for the rows' names
export const ROW = 24;
const SHORTEST_NAME = 36; // px of a span that has room for a name
const REACH = 6; // px around a mark that still hit it

export interface Picture {
  playing: Playing;
  range: Span;
  view: Span;
  takes: readonly TakeEntry[];
  shownTake: string;
}

export type Hit =
  | { kind: "time"; title: string }
  | { kind: "range"; edge: "start" | "stop"; title: string }
  | { kind: "moment"; time: number; title: string }
  | { kind: "take"; id: string; title: string };

const rows = (picture: Picture) => ({
  labels: RULER,
  moments: RULER + ROW,
  takes: RULER + (hasMoments(picture) ? 2 : 1) * ROW,
});
const hasMoments = (picture: Picture) => Object.keys(picture.playing.moments).length > 0;

/** What lies at a place of the timeline, px from its upper left corner. */
export function hitAt(x: number, y: number, picture: Picture, width: number): Hit {
  const at = (time: number) => GUTTER + xOf(time, picture.view, width - GUTTER);
  const near = (time: number) => Math.abs(at(time) - x) <= REACH;
  const { moments, takes } = rows(picture);
  if (y < RULER) {
    if (near(picture.range.stop)) return { kind: "range", edge: "stop", title: "Drag the end of the range" };
    if (near(picture.range.start)) return { kind: "range", edge: "start", title: "Drag the beginning of the range" };
  }
  if (hasMoments(picture) && y >= moments && y < moments + ROW) {
    const found = Object.entries(picture.playing.moments).find(([, time]) => near(time));
    if (found) return { kind: "moment", time: found[1], title: `${found[0]}, ${clock(found[1])}` };
  }
  const take = picture.takes[Math.floor((y - takes) / ROW)];
  if (y >= takes && take && x >= GUTTER && x <= at(take.seconds)) {
    return { kind: "take", id: take.id, title: `Show the take ${take.name}` };
  }
  return { kind: "time", title: "" };
}

/** Draws it all but the playhead, which moves too often. */
export function drawTimeline(canvas: HTMLCanvasElement, picture: Picture): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const paint = canvas.getContext("2d");
  if (!paint || width <= GUTTER) return;
  paint.scale(scale, scale);
  paint.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  paint.textBaseline = "middle";
  const at = (time: number) => GUTTER + xOf(time, picture.view, width - GUTTER);

  names(paint, picture);
  paint.save();
  paint.beginPath();
  paint.rect(GUTTER - 1, 0, width, height);
  paint.clip();
  drawRuler(paint, picture, width, height, at);
  drawLabels(paint, picture, at);
  drawMoments(paint, picture, at);
  drawTakes(paint, picture, at);
  drawRange(paint, picture, width, height, at);
  paint.restore();
}

type At = (time: number) => number;
type Paint = CanvasRenderingContext2D;

function names(paint: Paint, picture: Picture): void {
  const { labels, moments, takes } = rows(picture);
  paint.fillStyle = "#8b919b";
  paint.fillText("Labels", 12, labels + ROW / 2);
  if (hasMoments(picture)) paint.fillText("Moments", 12, moments + ROW / 2);
  if (picture.takes.length) paint.fillText("Takes", 12, takes + ROW / 2);
}

function drawRuler(paint: Paint, picture: Picture, width: number, height: number, at: At): void {
  for (const tick of ticks(picture.view, width - GUTTER, picture.playing.rate)) {
    const x = Math.round(at(tick.time)) + 0.5;
    paint.strokeStyle = tick.label ? "#3a3f48" : "#2c3037";
    paint.beginPath();
    paint.moveTo(x, tick.label ? 14 : 19);
    paint.lineTo(x, tick.label ? height : RULER);
    paint.globalAlpha = 1;
    if (tick.label) {
      paint.stroke();
      paint.fillStyle = "#8b919b";
      const before = x + paint.measureText(tick.label).width + 8 > width;
      paint.textAlign = before ? "right" : "left";
      paint.fillText(tick.label, before ? x - 4 : x + 4, 8);
      paint.textAlign = "left";
    } else {
      paint.stroke();
    }
  }
  paint.strokeStyle = "#2c3037";
  paint.beginPath();
  paint.moveTo(GUTTER, RULER + 0.5);
  paint.lineTo(width, RULER + 0.5);
  paint.stroke();
}

/** A span with its name; the name is cut where the span ends. */
export function bar(
  paint: Paint,
  x: number,
  y: number,
  width: number,
  colour: string,
  text: string,
  strong: boolean,
): void {
  paint.fillStyle = colour;
  paint.globalAlpha = strong ? 0.3 : 0.16;
  paint.beginPath();
  paint.roundRect(x, y + 3, Math.max(2, width), ROW - 6, 3);
  paint.fill();
  paint.globalAlpha = 1;
  paint.fillRect(x, y + 3, 2, ROW - 6);
  if (width < SHORTEST_NAME) return;
  paint.save();
  paint.beginPath();
  paint.rect(x, y, width, ROW);
  paint.clip();
  paint.fillStyle = "#d9dce1";
  paint.fillText(text, Math.max(x, GUTTER) + 8, y + ROW / 2 + 0.5);
  paint.restore();
}

function drawLabels(paint: Paint, picture: Picture, at: At): void {
  const { labels, seconds } = picture.playing;
  const x = at(0);
  const y = rows(picture).labels;
  bar(
    paint,
    x,
    y,
    at(seconds) - x,
    labels.length ? labelColour(labels[0]) : "#8b919b",
    labels.join(", ") || "no label",
    true,
  );
  labels.forEach((label, index) => {
    paint.fillStyle = labelColour(label);
    paint.fillRect(x + 3 * index, y + 3, 2, ROW - 6);
  });
}

function drawMoments(paint: Paint, picture: Picture, at: At): void {
  const y = rows(picture).moments + ROW / 2;
  let free = -Infinity;
  for (const [name, time] of Object.entries(picture.playing.moments).sort((a, b) => a[1] - b[1])) {
    const x = at(time);
    paint.fillStyle = "#f2a33a";
    paint.beginPath();
    paint.moveTo(x, y - 5);
    paint.lineTo(x + 5, y);
    paint.lineTo(x, y + 5);
    paint.lineTo(x - 5, y);
    paint.fill();
    if (x < free) continue;
    paint.fillStyle = "#8b919b";
    paint.fillText(name, x + 9, y + 0.5);
    free = x + 17 + paint.measureText(name).width;
  }
}

function drawTakes(paint: Paint, picture: Picture, at: At): void {
  picture.takes.forEach((take, index) => {
    const x = at(0);
    const shown = take.id === picture.shownTake;
    bar(
      paint,
      x,
      rows(picture).takes + index * ROW,
      at(take.seconds) - x,
      shown ? "#f2a33a" : "#4cc9b0",
      take.name,
      shown,
    );
  });
}

function drawRange(paint: Paint, picture: Picture, width: number, height: number, at: At): void {
  const start = at(picture.range.start);
  const stop = at(picture.range.stop);
  paint.fillStyle = "#16181ca6";
  paint.fillRect(GUTTER, RULER, Math.max(0, start - GUTTER), height);
  paint.fillRect(stop, RULER, Math.max(0, width - stop), height);
  paint.fillStyle = "#8a6a36";
  paint.fillRect(start, RULER - 2, stop - start, 2);
  paint.fillStyle = "#c9ccd2";
  for (const [x, sign] of [
    [start, 1],
    [stop, -1],
  ] as const) {
    paint.beginPath();
    paint.moveTo(x, RULER - 9);
    paint.lineTo(x + sign * 6, RULER - 9);
    paint.lineTo(x, RULER);
    paint.fill();
  }
}
