/** The visible times and values: zoom, pan, fit, and the ticks of the value axis. */
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

const MIN_SECONDS = 0.02; // over the whole width
const MAX_SECONDS = 36_000;
const MIN_VALUE_RANGE = 1e-6; // over the whole height
const MAX_VALUE_RANGE = 1e9;
const MARGIN = 0.08; // of the height, above and below the fitted values
const TICK_SPACE_PX = 28; // minimum between two ticks

export const xAt = (view: View, area: Area, time: number) =>
  area.left + ((time - view.start) / (view.stop - view.start)) * area.width;
export const yAt = (view: View, area: Area, value: number) =>
  area.top + ((view.high - value) / (view.high - view.low)) * area.height;
export const timeAt = (view: View, area: Area, x: number) =>
  view.start + ((x - area.left) / area.width) * (view.stop - view.start);
export const valueAt = (view: View, area: Area, y: number) =>
  view.high - ((y - area.top) / area.height) * (view.high - view.low);

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));

/** Zooms by factors around a fixed time and value. */
export function zoomView(view: View, time: number, value: number, acrossBy: number, upBy: number): View {
  const across = clamp((view.stop - view.start) * acrossBy, MIN_SECONDS, MAX_SECONDS) / (view.stop - view.start);
  const up = clamp((view.high - view.low) * upBy, MIN_VALUE_RANGE, MAX_VALUE_RANGE) / (view.high - view.low);
  return {
    start: time + (view.start - time) * across,
    stop: time + (view.stop - time) * across,
    low: value + (view.low - value) * up,
    high: value + (view.high - value) * up,
  };
}

export function panView(view: View, seconds: number, value: number): View {
  return { start: view.start + seconds, stop: view.stop + seconds, low: view.low + value, high: view.high + value };
}

/** A view of these times and values with a margin; empty ranges are widened. */
export function fitToRange(times: Span, low: number, high: number): View {
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

/** Ticks at round values. */
export function valueTicks(view: View, height: number): ValueTick[] {
  const span = view.high - view.low;
  if (!(span > 0) || height <= 0) return [];
  const step = roundStep((span * TICK_SPACE_PX) / height);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks: ValueTick[] = [];
  for (let k = Math.ceil(view.low / step); k * step <= view.high; k++) {
    const value = k * step || 0; // no -0
    ticks.push({ value, label: value.toFixed(Math.min(digits, 8)) });
  }
  return ticks;
}
