/**
 * The curve of a lane as a path, px: exactly the one that is evaluated, and no more of it than can be seen.
 *
 * A Bezier segment of a plain column is drawn as the canvas's own Bezier of the same control points, which is the same
 * curve. Quaternions are sampled, since normalising makes another curve. Where several keys fall on one pixel, each
 * pixel gets its least and its most value.
 */
import { BEZIER, isTurn, keyFrom, STEP } from "./curves";
import { extent } from "./bezier";
import { shownValue, type Graph } from "./hits";
import { keyFactors, type Lane } from "./lanes";
import { keySigns, sampleRow } from "./sampling";
import { xAt, yAt } from "./view";

/** The part of a canvas path that is used: tests record it. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number): void;
}

/** Rows of rotations that were sampled for one picture: (M,) times and (M, n) values of a channel, for all its lanes. */
export type Samples = Map<number, { times: number[]; rows: Float64Array }>;

const DENSE = 2; // px: segments shorter than this on average are drawn pixel by pixel
const STRIDE = 3; // px between two samples of a curve that has to be sampled
const FINE = 12; // samples of a segment that can be seen, at least

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
  const x = (time: number) => xAt(graph.view, graph.area, time);
  const y = (value: number) => yAt(graph.view, graph.area, shownValue(lane, value));
  pen.moveTo(x(times[first]), y(values[first * n + lane.column]));
  for (let k = first; k < last; k++) {
    const from = k * n + lane.column;
    const to = from + n;
    const end = y(values[to]);
    if (segments[k] === BEZIER) {
      pen.bezierCurveTo(
        x(times[k] + after[2 * from]),
        y(values[from] + after[2 * from + 1]),
        x(times[k + 1] - before[2 * to]),
        y(values[to] - before[2 * to + 1]),
        x(times[k + 1]),
        end,
      );
      continue;
    }
    if (segments[k] === STEP) pen.lineTo(x(times[k + 1]), y(values[from]));
    pen.lineTo(x(times[k + 1]), end);
  }
}

function turns(graph: Graph, lane: Lane, pen: Pen, first: number, last: number, samples: Samples): void {
  const { view, area } = graph;
  let found = samples.get(lane.channel);
  if (!found) {
    const channel = graph.channels[lane.channel];
    const n = channel.columns.length;
    const times = sampleTimes(graph, lane.channel, first, last);
    const signs = keySigns(channel);
    const rows = new Float64Array(times.length * n);
    times.forEach((time, i) => sampleRow(channel, time, signs, rows.subarray(i * n, (i + 1) * n)));
    samples.set(lane.channel, (found = { times, rows }));
  }
  const n = graph.channels[lane.channel].columns.length;
  found.times.forEach((time, i) => {
    const [x, y] = [xAt(view, area, time), yAt(view, area, shownValue(lane, found.rows[i * n + lane.column]))];
    if (i === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  });
}

/** Times at which a rotation is sampled: its keys, a few px apart between them, both sides of a step; only what is in sight. */
function sampleTimes(graph: Graph, number: number, first: number, last: number): number[] {
  const { times, segments } = graph.channels[number];
  const { view, area } = graph;
  const edge = 0.01 * (view.stop - view.start);
  const result = [times[first]];
  for (let k = first; k < last; k++) {
    const start = Math.max(times[k], view.start - edge);
    const stop = Math.min(times[k + 1], view.stop + edge);
    if (segments[k] === STEP) {
      result.push(times[k + 1] - 1e-9, times[k + 1]);
      continue;
    }
    const pixels = ((stop - start) / (view.stop - view.start)) * area.width;
    const count = Math.max(Math.min(FINE, Math.ceil(pixels)), Math.ceil(pixels / STRIDE), 1);
    if (start > times[k]) result.push(start);
    for (let i = 1; i < count; i++) result.push(start + ((stop - start) * i) / count);
    result.push(stop);
    if (stop < times[k + 1]) result.push(times[k + 1]);
  }
  return result;
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

