/**
 * The visible part of a lane's curve as a path in px, exactly as it is evaluated.
 *
 * A Bezier segment of a plain column is drawn as a canvas Bezier with the same control points. Quaternions are sampled,
 * as normalising changes the curve. If several keys fall on one pixel, each pixel column shows their minimum and
 * maximum.
 */

import { extent } from "./bezier";
import { BEZIER, firstKeyAt, isRotation, STEP } from "./curves";
import { type Graph, pixelScales, shownValue } from "./hits";
import { keyFactors, type Lane } from "./lanes";
import { keySigns, sampleRow, sampleSegment } from "./sampling";
import { xAt, yAt } from "./view";

/** The part of a canvas path that is used; tests implement it too. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void;
}

/** Sampled rotations of one drawing: M times and (M, n) values of a channel, shared by its lanes. */
export type Samples = Map<number, { count: number; times: Float64Array; rows: Float64Array }>;

const DENSE_PX = 2; // segments shorter than this on average are drawn per pixel column
const SAMPLE_STRIDE_PX = 3; // between two samples of a curve
const MIN_SAMPLES = 4; // of a visible segment

/** Draws the curve of a lane. */
export function trace(graph: Graph, lane: Lane, pen: Pen, samples: Samples = new Map()): void {
  const channel = graph.channels[lane.channel];
  const { times } = channel;
  const { area, view } = graph;
  const first = Math.max(0, firstKeyAt(times, view.start) - 1);
  const last = Math.min(times.length - 1, firstKeyAt(times, view.stop));
  const x = (time: number) => xAt(view, area, time);
  traceOutside(graph, lane, pen, 0);
  const across = x(times[last]) - x(times[first]);
  if (last > first && across / (last - first) < DENSE_PX) traceDense(graph, lane, pen, first, last);
  else if (isRotation(channel)) traceRotation(graph, lane, pen, first, last, samples);
  else tracePlain(graph, lane, pen, first, last);
  traceOutside(graph, lane, pen, 1);
}

function tracePlain(graph: Graph, lane: Lane, pen: Pen, first: number, last: number): void {
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

function traceRotation(graph: Graph, lane: Lane, pen: Pen, first: number, last: number, samples: Samples): void {
  let sampled = samples.get(lane.channel);
  if (!sampled) {
    sampled = sampleRotation(graph, lane.channel, first, last);
    samples.set(lane.channel, sampled);
  }
  const n = graph.channels[lane.channel].columns.length;
  const { xScale, xZero, yScale, yZero } = pixelScales(graph, lane);
  const { count, times, rows } = sampled;
  pen.moveTo(xScale * times[0] + xZero, yScale * rows[lane.column] + yZero);
  for (let i = 1; i < count; i++) pen.lineTo(xScale * times[i] + xZero, yScale * rows[i * n + lane.column] + yZero);
}

/** Samples a visible rotation: at its keys, a few px apart between them, and on both sides of a step. */
function sampleRotation(
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
  const most = Math.ceil(area.width / SAMPLE_STRIDE_PX) + (MIN_SAMPLES + 4) * (last - first + 1) + 8;
  const times = new Float64Array(most);
  const rows = new Float64Array(most * n);
  let count = 0;
  const addSample = (k: number, time: number): void => {
    times[count] = time;
    sampleSegment(channel, k, time, signs, rows.subarray(count * n, (count + 1) * n));
    count += 1;
  };
  if (last === first) {
    times[count++] = channel.times[first];
    sampleRow(channel, times[0], signs, rows.subarray(0, n));
  } else addSample(first, channel.times[first]);
  for (let k = first; k < last; k++) {
    const [from, to] = [channel.times[k], channel.times[k + 1]];
    if (channel.segments[k] === STEP) {
      addSample(k, to - 1e-9);
      addSample(k, to);
      continue;
    }
    const start = Math.max(from, view.start - edge);
    const stop = Math.min(to, view.stop + edge);
    const pixels = (stop - start) * scale;
    const parts = Math.max(1, Math.min(MIN_SAMPLES, Math.ceil(pixels)), Math.ceil(pixels / SAMPLE_STRIDE_PX));
    if (start > from) addSample(k, start);
    for (let i = 1; i < parts; i++) addSample(k, start + ((stop - start) * i) / parts);
    addSample(k, stop);
    if (stop < to) addSample(k, to);
  }
  return { count, times, rows };
}

/** Draws one vertical stroke per pixel column, from the minimum to the maximum. */
function traceDense(graph: Graph, lane: Lane, pen: Pen, first: number, last: number): void {
  const channel = graph.channels[lane.channel];
  const { times, values, segments, before, after, columns } = channel;
  const { view, area } = graph;
  const n = columns.length;
  const turn = isRotation(channel);
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
    // Handles with values between both keys cannot overshoot; that is the usual case.
    if ((value + up - value) * (value + up - next) <= 0 && (next - down - value) * (next - down - next) <= 0) continue;
    const reach = extent(value, value + up, next - down, next);
    if (reach[0] < low) low = reach[0];
    if (reach[1] > high) high = reach[1];
  }
  flush();
}

/** Draws the extrapolation before the first key (side 0) or after the last (1). */
function traceOutside(graph: Graph, lane: Lane, pen: Pen, side: number): void {
  const channel = graph.channels[lane.channel];
  const { times, extrapolation } = channel;
  const { view, area } = graph;
  const edge = side === 0 ? times[0] : times[times.length - 1];
  const far = side === 0 ? view.start : view.stop;
  if (side === 0 ? far >= edge : far <= edge) return;
  const straight =
    !extrapolation[side].startsWith("cycle") && !(isRotation(channel) && extrapolation[side] === "linear");
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
