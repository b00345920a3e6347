/** Hit tests of the graph: keys, handles, curves, and the edges of the box around a selection. */
import { type CurveChannel, firstKeyAt } from "./curves";
import { type HandlePlace, handleOffset, hasHandle, type Side } from "./handles";
import { keyFactors, type Lane } from "./lanes";
import { keySigns, sampleRow } from "./sampling";
import { isSelected, type KeyPlace, type KeySelection } from "./selection";
import { type Area, timeAt, type View, xAt, yAt } from "./view";

export const HIT_RADIUS_PX = 7; // around a key or handle
const CURVE_HIT_RADIUS_PX = 5;

export interface Box {
  left: number; // px
  top: number;
  right: number;
  bottom: number;
}

export const boxOf = (a: { x: number; y: number }, b: { x: number; y: number }): Box => ({
  left: Math.min(a.x, b.x),
  top: Math.min(a.y, b.y),
  right: Math.max(a.x, b.x),
  bottom: Math.max(a.y, b.y),
});

/** The content of the graph. */
export interface Graph {
  channels: readonly CurveChannel[];
  lanes: readonly Lane[];
  selection: KeySelection;
  view: View;
  area: Area;
}

/** A value in the units of a lane. */
export const shownValue = (lane: Lane, value: number) => lane.scale * (value - lane.offset);

/** The position of a lane's key, px. */
export function keyPoint(graph: Graph, lane: Lane, key: number, factors: Float64Array): { x: number; y: number } {
  const channel = graph.channels[lane.channel];
  const value = channel.values[key * channel.columns.length + lane.column] * factors[key];
  return {
    x: xAt(graph.view, graph.area, channel.times[key]),
    y: yAt(graph.view, graph.area, shownValue(lane, value)),
  };
}

/** The position of a handle's end, px. */
export function handlePoint(
  graph: Graph,
  lane: Lane,
  place: HandlePlace,
  factors: Float64Array,
): { x: number; y: number } {
  const channel = graph.channels[lane.channel];
  const [dt, dv] = handleOffset(channel, place);
  const value = channel.values[place.key * channel.columns.length + lane.column];
  return {
    x: xAt(graph.view, graph.area, channel.times[place.key] + dt),
    y: yAt(graph.view, graph.area, shownValue(lane, (value + dv) * factors[place.key])),
  };
}

/** The keys of a channel between two x positions, as a half-open range. */
export function keysBetween(graph: Graph, channel: number, left: number, right: number): [number, number] {
  const { times } = graph.channels[channel];
  return [
    firstKeyAt(times, timeAt(graph.view, graph.area, left)),
    firstKeyAt(times, timeAt(graph.view, graph.area, right) + 1e-12),
  ];
}

/** Linear maps from a lane's keys to px: x = xScale t + xZero, y = yScale v + yZero. For loops over many keys. */
export function pixelScales(
  { view, area }: Graph,
  lane: Lane,
): { xScale: number; xZero: number; yScale: number; yZero: number } {
  const xScale = area.width / (view.stop - view.start);
  const yScale = -area.height / (view.high - view.low);
  return {
    xScale,
    xZero: area.left - view.start * xScale,
    yScale: yScale * lane.scale,
    yZero: area.top - yScale * view.high - yScale * lane.scale * lane.offset,
  };
}

/** The key nearest to a position; selected keys win ties. */
export function keyAt(graph: Graph, x: number, y: number): KeyPlace | null {
  let best: KeyPlace | null = null;
  let nearest = HIT_RADIUS_PX * HIT_RADIUS_PX;
  for (const lane of graph.lanes) {
    const { times, values, columns } = graph.channels[lane.channel];
    const factors = keyFactors(graph.channels[lane.channel]);
    const { xScale, xZero, yScale, yZero } = pixelScales(graph, lane);
    const [first, last] = keysBetween(graph, lane.channel, x - HIT_RADIUS_PX, x + HIT_RADIUS_PX);
    for (let key = first; key < last; key++) {
      const at = key * columns.length + lane.column;
      const dx = xScale * times[key] + xZero - x;
      const dy = yScale * values[at] * factors[key] + yZero - y;
      const distance = dx * dx + dy * dy;
      if (distance > nearest) continue;
      const isOne = isSelected(graph.selection, lane.channel, at);
      nearest = distance - (isOne ? 1 : 0);
      best = { channel: lane.channel, column: lane.column, key };
    }
  }
  return best;
}

/** Whether the pointer is nearer to the end of a handle than to its key. */
export function nearerHandle(graph: Graph, place: HandlePlace, x: number, y: number): boolean {
  const lane = graph.lanes.find(
    (candidate) => candidate.channel === place.channel && candidate.column === place.column,
  );
  if (!lane) return false;
  const factors = keyFactors(graph.channels[place.channel]);
  const [key, end] = [keyPoint(graph, lane, place.key, factors), handlePoint(graph, lane, place, factors)];
  return Math.hypot(end.x - x, end.y - y) < Math.hypot(key.x - x, key.y - y);
}

/** The nearest handle of a selected key; other handles are not shown. */
export function handleAt(graph: Graph, x: number, y: number): HandlePlace | null {
  let best: HandlePlace | null = null;
  let nearest = HIT_RADIUS_PX * HIT_RADIUS_PX;
  for (const lane of graph.lanes) {
    const flags = graph.selection.get(lane.channel);
    if (!flags) continue;
    const channel = graph.channels[lane.channel];
    const n = channel.columns.length;
    const factors = keyFactors(channel);
    for (let key = 0; key < channel.times.length; key++) {
      if (!flags[key * n + lane.column]) continue;
      for (const side of ["before", "after"] as Side[]) {
        if (!hasHandle(channel, key, side)) continue;
        const place = { channel: lane.channel, column: lane.column, key, side };
        const point = handlePoint(graph, lane, place, factors);
        const distance = (point.x - x) ** 2 + (point.y - y) ** 2;
        if (distance > nearest) continue;
        nearest = distance;
        best = place;
      }
    }
  }
  return best;
}

/** The lane whose curve passes a position. */
export function laneAt(graph: Graph, x: number, y: number): Lane | null {
  const time = timeAt(graph.view, graph.area, x);
  const rows = new Map<number, Float64Array>();
  let best: Lane | null = null;
  let nearest = CURVE_HIT_RADIUS_PX;
  for (const lane of graph.lanes) {
    const channel = graph.channels[lane.channel];
    let row = rows.get(lane.channel);
    if (!row) {
      row = sampleRow(channel, time, keySigns(channel), new Float64Array(channel.columns.length));
      rows.set(lane.channel, row);
    }
    const distance = Math.abs(yAt(graph.view, graph.area, shownValue(lane, row[lane.column])) - y);
    if (distance > nearest) continue;
    nearest = distance;
    best = lane;
  }
  return best;
}

/** All keys of the lanes inside a box. */
export function keysIn(graph: Graph, box: Box): KeyPlace[] {
  const places: KeyPlace[] = [];
  for (const lane of graph.lanes) {
    const channel = graph.channels[lane.channel];
    const factors = keyFactors(channel);
    const [first, last] = keysBetween(graph, lane.channel, box.left, box.right);
    for (let key = first; key < last; key++) {
      const { y } = keyPoint(graph, lane, key, factors);
      if (y >= box.top && y <= box.bottom) places.push({ channel: lane.channel, column: lane.column, key });
    }
  }
  return places;
}

/** The box around all selected keys of the lanes, px; null with fewer than two. */
export function selectionBox(graph: Graph): Box | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  let count = 0;
  for (const lane of graph.lanes) {
    const flags = graph.selection.get(lane.channel);
    if (!flags) continue;
    const { times, values, columns } = graph.channels[lane.channel];
    const factors = keyFactors(graph.channels[lane.channel]);
    const { xScale, xZero, yScale, yZero } = pixelScales(graph, lane);
    for (let key = 0, at = lane.column; key < times.length; key++, at += columns.length) {
      if (!flags[at]) continue;
      const x = xScale * times[key] + xZero;
      const y = yScale * values[at] * factors[key] + yZero;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
      count += 1;
    }
  }
  return count > 1 ? { left, top, right, bottom } : null;
}

export type Edge = "left" | "right" | "top" | "bottom";

export const GRIP_PX = 10; // distance of the box from the selection

/** The edge of the box at a position; the corners belong to the left and right edges. */
export function edgeAt(box: Box, x: number, y: number, upright: boolean): Edge | null {
  const inside = (at: number, low: number, high: number) => at >= low - GRIP_PX - 3 && at <= high + GRIP_PX + 3;
  if (box.right - box.left > 1 && inside(y, box.top, box.bottom)) {
    if (Math.abs(x - (box.left - GRIP_PX)) <= 4) return "left";
    if (Math.abs(x - (box.right + GRIP_PX)) <= 4) return "right";
  }
  if (upright && box.bottom - box.top > 1 && inside(x, box.left, box.right)) {
    if (Math.abs(y - (box.top - GRIP_PX)) <= 4) return "top";
    if (Math.abs(y - (box.bottom + GRIP_PX)) <= 4) return "bottom";
  }
  return null;
}
