/**
 * The curve of a lane as a path, px: exactly the one that is evaluated, and no more of it than can be seen.
 *
 * A Bezier segment of a plain column is drawn as the canvas's own Bezier of the same control points, which is the same
 * curve. Quaternions are sampled, since normalising makes another curve. Where several keys fall on one pixel, each
 * pixel gets its least and its most value.
 */

import { extent } from "./bezier";
import { BEZIER, isTurn, keyFrom, STEP } from "./curves";
import { type Graph, pixelScales, shownValue } from "./hits";
import { keyFactors, type Lane } from "./lanes";
import { keySigns, sampleRow, sampleSegment } from "./sampling";
import { xAt, yAt } from "./view";

/** The part of a canvas path that is used: tests record it. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void;
}

/** Rows of rotations that were sampled for one picture: M times and (M, n) values of a channel, for all its lanes. */
export type Samples = Map<number, { count: number; times: Float64Array; rows: Float64Array }>;

const DENSE = 2; // px: segments shorter than this on average are drawn pixel by pixel
const STRIDE = 3; // px between two samples of a curve that has to be sampled
const FINE = 4; // samples of a segment that can be seen, at least

/** Draws the curve of a lane. */
export function trace(graph: Graph, lane: Lane, pen: Pen, samples: Samples = new Map()): void {
  const channel = graph.channels[lane.channel];
  const { times } = channel;
  const { area, view } = graph;
  const first = Math.max(0, keyFrom(times, view.start) - 1);
  const last = Math.min(times.length - 1, keyFrom(times, view.stop));
  const x = (time: number) => xAt(view, area, time);
  outside(graph, lane, pen, 0);
  const across = x(times[last]) - x(times[first]);
  if (last > first && across / (last - first) < DENSE) dense(graph, lane, pen, first, last);
  else if (isTurn(channel)) turns(graph, lane, pen, first, last, samples);
  else plain(graph, lane, pen, first, last);
  outside(graph, lane, pen, 1);
}

function plain(graph: Graph, lane: Lane, pen: Pen, first: number, last: number): void {
  const { times, values, before, after, segments, columns } = graph.channels[lane.channel];
  const n = columns.length;
  const { xScale, xZero, yScale, yZero } = pixelScales(graph, lane);
  pen.moveTo(xScale * times[first] + xZero, yScale * values[first * n + lane.column] + yZero);
  for (let k = first, from = first * n + lane.column; k < last; k++, from += n) {
    const to = from + n;
    const endX = xScale * times[k + 1] + xZero;
    const endY = yScale * values[to] + yZero;
    if (segments[k] === BEZIER) {
      pen.bezierCurveTo(
        xScale * (times[k] + after[2 * from]) + xZero,
        yScale * (values[from] + after[2 * from + 1]) + yZero,
        endX - xScale * before[2 * to],
        endY - yScale * before[2 * to + 1],
        endX,
        endY,
      );
      continue;
    }
    if (segments[k] === STEP) pen.lineTo(endX, yScale * values[from] + yZero);
    pen.lineTo(endX, endY);
  }
}

function turns(graph: Graph, lane: Lane, pen: Pen, first: number, last: number, samples: Samples): void {
  let found = samples.get(lane.channel);
  if (!found) {
    found = sampled(graph, lane.channel, first, last);
    samples.set(lane.channel, found);
  }
  const n = graph.channels[lane.channel].columns.length;
  const { xScale, xZero, yScale, yZero } = pixelScales(graph, lane);
  const { count, times, rows } = found;
  pen.moveTo(xScale * times[0] + xZero, yScale * rows[lane.column] + yZero);
  for (let i = 1; i < count; i++) pen.lineTo(xScale * times[i] + xZero, yScale * rows[i * n + lane.column] + yZero);
}

/** A rotation in sight: at its keys, a few px apart between them, on both sides of a step. */
function sampled(
  graph: Graph,
  number: number,
  first: number,
  last: number,
): { count: number; times: Float64Array; rows: Float64Array } {
  const channel = graph.channels[number];
  const { view, area } = graph;
  const n = channel.columns.length;
  const signs = keySigns(channel);
  const edge = 0.01 * (view.stop - view.start);
  const scale = area.width / (view.stop - view.start);
  const most = Math.ceil(area.width / STRIDE) + (FINE + 4) * (last - first + 1) + 8;
  const times = new Float64Array(most);
  const rows = new Float64Array(most * n);
  let count = 0;
  const put = (k: number, time: number): void => {
    times[count] = time;
    sampleSegment(channel, k, time, signs, rows.subarray(count * n, (count + 1) * n));
    count += 1;
  };
  if (last === first) {
    times[count++] = channel.times[first];
    sampleRow(channel, times[0], signs, rows.subarray(0, n));
  } else put(first, channel.times[first]);
  for (let k = first; k < last; k++) {
    const [from, to] = [channel.times[k], channel.times[k + 1]];
    if (channel.segments[k] === STEP) {
      put(k, to - 1e-9);
      put(k, to);
      continue;
    }
    const start = Math.max(from, view.start - edge);
    const stop = Math.min(to, view.stop + edge);
    const pixels = (stop - start) * scale;
    const parts = Math.max(1, Math.min(FINE, Math.ceil(pixels)), Math.ceil(pixels / STRIDE));
    if (start > from) put(k, start);
    for (let i = 1; i < parts; i++) put(k, start + ((stop - start) * i) / parts);
    put(k, stop);
    if (stop < to) put(k, to);
  }
  return { count, times, rows };
}

/** One vertical stroke a pixel: from the least to the most that the curve has there. */
function dense(graph: Graph, lane: Lane, pen: Pen, first: number, last: number): void {
  const channel = graph.channels[lane.channel];
  const { times, values, segments, before, after, columns } = channel;
  const { view, area } = graph;
  const n = columns.length;
  const turn = isTurn(channel);
  const factors = keyFactors(channel);
  const xScale = area.width / (view.stop - view.start);
  const yScale = -area.height / (view.high - view.low);
  const yZero = area.top + (view.high * area.height) / (view.high - view.low);
  let pixel = NaN;
  let low = 0;
  let high = 0;
  let begun = false;
  const flush = (): void => {
    if (Number.isNaN(pixel)) return;
    const top = yZero + yScale * lane.scale * (high - lane.offset);
    const bottom = yZero + yScale * lane.scale * (low - lane.offset);
    if (begun) pen.lineTo(pixel, bottom);
    else pen.moveTo(pixel, bottom);
    begun = true;
    if (bottom - top > 0.5) pen.lineTo(pixel, top);
  };
  for (let k = first; k <= last; k++) {
    const at = k * n + lane.column;
    const value = values[at] * factors[k];
    const x = Math.round(area.left + (times[k] - view.start) * xScale);
    if (x !== pixel) {
      flush();
      pixel = x;
      low = high = value;
    } else {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (turn || k === last || segments[k] !== BEZIER) continue;
    const up = after[2 * at + 1];
    const down = before[2 * (at + n) + 1];
    const next = values[at + n];
    // Handles that stay between the two keys cannot overshoot: most do, and are not looked at closer.
    if ((value + up - value) * (value + up - next) <= 0 && (next - down - value) * (next - down - next) <= 0) continue;
    const reach = extent(value, value + up, next - down, next);
    if (reach[0] < low) low = reach[0];
    if (reach[1] > high) high = reach[1];
  }
  flush();
}

/** What goes on before the first key (side 0) or after the last (1). */
function outside(graph: Graph, lane: Lane, pen: Pen, side: number): void {
  const channel = graph.channels[lane.channel];
  const { times, extrapolation } = channel;
  const { view, area } = graph;
  const edge = side === 0 ? times[0] : times[times.length - 1];
  const far = side === 0 ? view.start : view.stop;
  if (side === 0 ? far >= edge : far <= edge) return;
  const straight = !extrapolation[side].startsWith("cycle") && !(isTurn(channel) && extrapolation[side] === "linear");
  const signs = keySigns(channel);
  const row = new Float64Array(channel.columns.length);
  const from = side === 0 ? far : Math.max(edge, view.start);
  const to = side === 0 ? Math.min(edge, view.stop) : far;
  const pixels = ((to - from) / (view.stop - view.start)) * area.width;
  const count = straight ? 1 : Math.max(1, Math.ceil(pixels / 2));
  for (let i = 0; i <= count; i++) {
    const time = from + ((to - from) * i) / count;
    sampleRow(channel, time, signs, row);
    const [x, y] = [xAt(view, area, time), yAt(view, area, shownValue(lane, row[lane.column]))];
    if (i === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  }
}
