/** A lane is one column of one channel as the graph shows it: its colour, unit and scale. */
import { extent } from "./bezier";
import { BEZIER, type CurveChannel, isRotation, memoise } from "./curves";
import { keySigns } from "./sampling";

export interface Lane {
  channel: number; // index of the channel
  column: number;
  colour: string;
  scale: number; // shown = scale * (value - offset)
  offset: number;
}

/** Three hues of equal lightness for x, y, z, one for w, and a palette for named columns. */
const AXIS_COLOURS: Record<string, string> = { x: "#ec7d8c", y: "#8cc16a", z: "#6fa8ee", w: "#b9a2e0" };
const NAMED_COLOURS = ["#4cc9b0", "#d3a24e", "#6fa8ee", "#e283b4", "#8cc16a", "#b9a2e0", "#ec7d8c", "#5fbcd3"];

export const columnColour = (name: string, index: number) =>
  AXIS_COLOURS[name] ?? NAMED_COLOURS[index % NAMED_COLOURS.length];

const DEGREES = 180 / Math.PI;

/** The unit of a kind of channel. */
export const unitOf = (kind: string) => ({ translation: "m", euler: "°", marker: "m" })[kind] ?? "";
export const scaleOf = (kind: string) => (kind === "euler" ? DEGREES : 1);

/**
 * The factors that normalise a rotation's keys (keys inserted on a Bezier segment are not of unit length), with
 * continuous signs.
 */
export const keyFactors = memoise((channel: CurveChannel): Float64Array => {
  const keys = channel.times.length;
  const factors = new Float64Array(keys).fill(1);
  if (!isRotation(channel) || channel.values.length === 0) return factors;
  const signs = keySigns(channel);
  for (let k = 0; k < keys; k++) {
    const [x, y, z, w] = channel.values.subarray(4 * k, 4 * k + 4);
    const length = Math.hypot(x, y, z, w);
    factors[k] = length > 0 ? signs[k] / length : signs[k];
  }
  return factors;
});

/** The minimum and maximum of a column between two keys. */
export function columnExtent(
  channel: CurveChannel,
  column: number,
  first = 0,
  last = channel.times.length - 1,
): [number, number] {
  const n = channel.columns.length;
  const { values, before, after, segments } = channel;
  const factors = keyFactors(channel);
  const turn = isRotation(channel);
  let low = Infinity;
  let high = -Infinity;
  for (let k = first; k <= last; k++) {
    const value = values[k * n + column] * factors[k];
    low = Math.min(low, value);
    high = Math.max(high, value);
    if (k >= last || segments[k] !== BEZIER || turn) continue;
    const next = values[(k + 1) * n + column];
    const reach = extent(
      value,
      value + after[2 * (k * n + column) + 1],
      next - before[2 * ((k + 1) * n + column) + 1],
      next,
    );
    low = Math.min(low, reach[0]);
    high = Math.max(high, reach[1]);
  }
  return [low, high];
}

/** The lanes of chosen channels; `hidden` tests columns, `normal` scales each to -1..1. */
export function lanesOf(
  channels: readonly CurveChannel[],
  chosen: readonly number[],
  hidden: (channel: number, column: number) => boolean,
  normal: boolean,
): Lane[] {
  const lanes: Lane[] = [];
  for (const channel of chosen) {
    const { kind, columns } = channels[channel];
    columns.forEach((name, column) => {
      if (hidden(channel, column)) return;
      const lane = { channel, column, colour: columnColour(name, column), scale: scaleOf(kind), offset: 0 };
      if (normal) {
        const [low, high] = columnExtent(channels[channel], column);
        lane.offset = (low + high) / 2;
        lane.scale = high - low > 1e-9 ? 2 / (high - low) : 1;
      }
      lanes.push(lane);
    });
  }
  return lanes;
}

/** The unit that all lanes share, or none. */
export function unitOfLanes(channels: readonly CurveChannel[], lanes: readonly Lane[]): string {
  const units = new Set(lanes.map((lane) => unitOf(channels[lane.channel].kind)));
  return units.size === 1 ? [...units][0] : "";
}
