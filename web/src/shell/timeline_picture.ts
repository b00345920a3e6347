/**
 * Draws the timeline: ruler, range, label spans, moments as diamonds, takes as bars; also finds what lies at a
 * position.
 */
import { labelColour } from "../labels";
import type { TakeEntry } from "../protocol/messages";
import { type Span, ticks, xOf } from "./ruler";
import { clock } from "./time";
import type { Playable } from "./transport";

export const RULER_PX = 24;
export const GUTTER_PX = 72; // at the left, for the names of the rows
export const ROW_PX = 24;
const MIN_NAME_PX = 36; // width of a span that has room for its name
const HIT_RADIUS_PX = 6;

export interface Picture {
  playing: Playable;
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
  labels: RULER_PX,
  moments: RULER_PX + ROW_PX,
  takes: RULER_PX + (hasMoments(picture) ? 2 : 1) * ROW_PX,
});
const hasMoments = (picture: Picture) => Object.keys(picture.playing.moments).length > 0;

/** What lies at a position of the timeline, px from its upper left corner. */
export function hitAt(x: number, y: number, picture: Picture, width: number): Hit {
  const at = (time: number) => GUTTER_PX + xOf(time, picture.view, width - GUTTER_PX);
  const near = (time: number) => Math.abs(at(time) - x) <= HIT_RADIUS_PX;
  const { moments, takes } = rows(picture);
  if (y < RULER_PX) {
    if (near(picture.range.stop)) return { kind: "range", edge: "stop", title: "Drag the end of the range" };
    if (near(picture.range.start)) return { kind: "range", edge: "start", title: "Drag the beginning of the range" };
  }
  if (hasMoments(picture) && y >= moments && y < moments + ROW_PX) {
    const moment = Object.entries(picture.playing.moments).find(([, time]) => near(time));
    if (moment) return { kind: "moment", time: moment[1], title: `${moment[0]}, ${clock(moment[1])}` };
  }
  const take = picture.takes[Math.floor((y - takes) / ROW_PX)];
  if (y >= takes && take && x >= GUTTER_PX && x <= at(take.seconds)) {
    return { kind: "take", id: take.id, title: `Show the take ${take.name}` };
  }
  return { kind: "time", title: "" };
}

/** Draws everything except the playhead, which moves too often. */
export function drawTimeline(canvas: HTMLCanvasElement, picture: Picture): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const paint = canvas.getContext("2d");
  if (!paint || width <= GUTTER_PX) return;
  paint.scale(scale, scale);
  paint.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  paint.textBaseline = "middle";
  const at = (time: number) => GUTTER_PX + xOf(time, picture.view, width - GUTTER_PX);

  drawNames(paint, picture);
  paint.save();
  paint.beginPath();
  paint.rect(GUTTER_PX - 1, 0, width, height);
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

function drawNames(paint: Paint, picture: Picture): void {
  const { labels, moments, takes } = rows(picture);
  paint.fillStyle = "#8b919b";
  paint.fillText("Labels", 12, labels + ROW_PX / 2);
  if (hasMoments(picture)) paint.fillText("Moments", 12, moments + ROW_PX / 2);
  if (picture.takes.length) paint.fillText("Takes", 12, takes + ROW_PX / 2);
}

function drawRuler(paint: Paint, picture: Picture, width: number, height: number, at: At): void {
  for (const tick of ticks(picture.view, width - GUTTER_PX, picture.playing.rate)) {
    const x = Math.round(at(tick.time)) + 0.5;
    paint.strokeStyle = tick.label ? "#3a3f48" : "#2c3037";
    paint.beginPath();
    paint.moveTo(x, tick.label ? 14 : 19);
    paint.lineTo(x, tick.label ? height : RULER_PX);
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
  paint.moveTo(GUTTER_PX, RULER_PX + 0.5);
  paint.lineTo(width, RULER_PX + 0.5);
  paint.stroke();
}

/** A span with its name, clipped to the span. */
export function drawBar(
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
  paint.roundRect(x, y + 3, Math.max(2, width), ROW_PX - 6, 3);
  paint.fill();
  paint.globalAlpha = 1;
  paint.fillRect(x, y + 3, 2, ROW_PX - 6);
  if (width < MIN_NAME_PX) return;
  paint.save();
  paint.beginPath();
  paint.rect(x, y, width, ROW_PX);
  paint.clip();
  paint.fillStyle = "#d9dce1";
  paint.fillText(text, Math.max(x, GUTTER_PX) + 8, y + ROW_PX / 2 + 0.5);
  paint.restore();
}

function drawLabels(paint: Paint, picture: Picture, at: At): void {
  const { labels, seconds } = picture.playing;
  const x = at(0);
  const y = rows(picture).labels;
  drawBar(
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
    paint.fillRect(x + 3 * index, y + 3, 2, ROW_PX - 6);
  });
}

function drawMoments(paint: Paint, picture: Picture, at: At): void {
  const y = rows(picture).moments + ROW_PX / 2;
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
    drawBar(
      paint,
      x,
      rows(picture).takes + index * ROW_PX,
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
  paint.fillRect(GUTTER_PX, RULER_PX, Math.max(0, start - GUTTER_PX), height);
  paint.fillRect(stop, RULER_PX, Math.max(0, width - stop), height);
  paint.fillStyle = "#8a6a36";
  paint.fillRect(start, RULER_PX - 2, stop - start, 2);
  paint.fillStyle = "#c9ccd2";
  for (const [x, sign] of [
    [start, 1],
    [stop, -1],
  ] as const) {
    paint.beginPath();
    paint.moveTo(x, RULER_PX - 9);
    paint.lineTo(x + sign * 6, RULER_PX - 9);
    paint.lineTo(x, RULER_PX);
    paint.fill();
  }
}
