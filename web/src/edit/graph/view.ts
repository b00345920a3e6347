/** Which times and values are shown where: zoom, pan, fit, and the ticks of the value axis. */
import { roundStep, type Span } from "../../shell/ruler";

export interface View {
  start: number; // seconds at the left edge
  stop: number;
  low: number; // value at the lower edge
  high: number;
}

/** The rectangle that a view fills, px. */
export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

const SHORTEST = 0.02; // seconds that fill the width at the most
const LONGEST = 36_000;
const FLATTEST = 1e-6; // of value over the whole height
const STEEPEST = 1e9;
const MARGIN = 0.08; // of the height, above and below what is fitted
const TICK_SPACE = 28; // px between two values of the axis, at least

export const xAt = (view: View, area: Area, time: number) =>
  area.left + ((time - view.start) / (view.stop - view.start)) * area.width;
export const yAt = (view: View, area: Area, value: number) =>
  area.top + ((view.high - value) / (view.high - view.low)) * area.height;
export const timeAt = (view: View, area: Area, x: number) =>
  view.start + ((x - area.left) / area.width) * (view.stop - view.start);
export const valueAt = (view: View, area: Area, y: number) =>
  view.high - ((y - area.top) / area.height) * (view.high - view.low);

const bound = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));

/** Zoomed by factors around a time and a value, which stay where they are. */
export function zoomedView(view: View, time: number, value: number, acrossBy: number, upBy: number): View {
  const across = bound((view.stop - view.start) * acrossBy, SHORTEST, LONGEST) / (view.stop - view.start);
  const up = bound((view.high - view.low) * upBy, FLATTEST, STEEPEST) / (view.high - view.low);
  return {
    start: time + (view.start - time) * across,
    stop: time + (view.stop - time) * across,
    low: value + (view.low - value) * up,
    high: value + (view.high - value) * up,
  };
}

export function movedView(view: View, seconds: number, value: number): View {
  return { start: view.start + seconds, stop: view.stop + seconds, low: view.low + value, high: view.high + value };
}

/** A view of these times and values with a little room around; what has no extent gets some. */
export function fittedView(times: Span, low: number, high: number): View {
  const room = times.stop > times.start ? 0.02 * (times.stop - times.start) : 0.5;
  const middle = (low + high) / 2;
  const half = Math.max((high - low) / 2, 1e-3 * Math.max(1, Math.abs(middle)));
  return {
    start: times.start - room,
    stop: times.stop + room,
    low: middle - half * (1 + 2 * MARGIN),
    high: middle + half * (1 + 2 * MARGIN),
  };
}

export interface ValueTick {
  value: number;
  label: string;
}

/** Round values along the axis. */
export function valueTicks(view: View, height: number): ValueTick[] {
  const span = view.high - view.low;
  if (!(span > 0) || height <= 0) return [];
  const step = roundStep((span * TICK_SPACE) / height);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks: ValueTick[] = [];
  for (let k = Math.ceil(view.low / step); k * step <= view.high; k++) {
    const value = k * step || 0; // no -0
    ticks.push({ value, label: value.toFixed(Math.min(digits, 8)) });
  }
  return ticks;
}
