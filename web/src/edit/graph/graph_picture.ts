/**
 * Draws the graph: value axis, curves and keys in the base layer; the selection, its handles and the selection box
 * above.
 */
import type { Span } from "../../shell/ruler";
import { isBroken } from "./curves";
import { type HandlePlace, hasHandle, type Side } from "./handles";
import { type Box, type edgeAt, GRIP_PX, type Graph, handlePoint, keyPoint, keysBetween, selectionBox } from "./hits";
import { keyFactors, type Lane } from "./lanes";
import type { Paint } from "./layers";
import { type Samples, trace } from "./paths";
import { drawManyLanes, drawRastered, MAX_STROKED_LANES, stampKeys } from "./raster_picture";
import { addDiamond, drawRuler, RULER_PX } from "./ruler_picture";
import { countKeys, type KeyPlace } from "./selection";
import { valueTicks, yAt } from "./view";

export const AXIS_PX = 48; // at the left, for values
const MIN_KEY_DISTANCE_PX = 5; // between two drawn keys
const MAX_STROKED_KEYS = 600; // visible keys that canvas strokes draw fast enough
export const MAX_HANDLES = 400; // selected keys with handles; more would hide the curves
const AMBER = "#f2a33a";

/** What the pointer hovers or drags. */
export interface PointerState {
  key?: KeyPlace | null;
  edge?: ReturnType<typeof edgeAt>;
  box?: Box | null;
}

export function drawBase(
  paint: Paint,
  graph: Graph,
  without: ReadonlySet<number>,
  rate: number,
  whole: Span,
  unit: string,
): void {
  const { area, view } = graph;
  const bottom = area.top + area.height;
  drawRuler(paint, view, area, rate, whole, bottom);
  drawAxis(paint, graph, unit);
  clipToArea(paint, graph);
  drawLanes(
    paint,
    graph,
    graph.lanes.filter((lane) => !without.has(lane.channel)),
  );
  paint.restore();
}

export function drawTop(paint: Paint, graph: Graph, moving: ReadonlySet<number>, pointerState: PointerState): void {
  clipToArea(paint, graph);
  if (moving.size)
    drawLanes(
      paint,
      graph,
      graph.lanes.filter((lane) => moving.has(lane.channel)),
    );
  drawSelection(paint, graph);
  if (pointerState.key) drawHovered(paint, graph, pointerState.key);
  const around = selectionBox(graph);
  if (around) drawSelectionBox(paint, around, pointerState.edge ?? null);
  if (pointerState.box) drawBox(paint, pointerState.box);
  paint.restore();
}

function clipToArea(paint: Paint, { area }: Graph): void {
  paint.save();
  paint.beginPath();
  paint.rect(area.left, area.top, area.width, area.height);
  paint.clip();
}

function drawAxis(paint: Paint, graph: Graph, unit: string): void {
  const { area, view } = graph;
  paint.textAlign = "right";
  for (const tick of valueTicks(view, area.height)) {
    const y = Math.round(yAt(view, area, tick.value)) + 0.5;
    paint.fillStyle = tick.value === 0 ? "#3a3f48" : "#24282e";
    paint.fillRect(area.left, y - 0.5, area.width, 1);
    paint.fillStyle = "#8b919b";
    if (y > area.top + 5 && y < area.top + area.height - 4)
      paint.fillText(tick.label + unit.replace("m", ""), area.left - 6, y);
  }
  if (unit === "m") paint.fillText(unit, area.left - 6, RULER_PX / 2);
  paint.textAlign = "left";
}

/** Draws few lanes as canvas strokes, many through a raster. */
function drawLanes(paint: Paint, graph: Graph, lanes: readonly Lane[]): void {
  if (lanes.length > MAX_STROKED_LANES || isCrowded(graph, lanes)) {
    drawManyLanes(paint, graph, lanes);
    return;
  }
  const samples: Samples = new Map();
  for (const lane of lanes) drawCurve(paint, graph, lane, samples);
  for (const lane of lanes) drawKeys(paint, graph, lane);
}

/** Whether lanes have too many visible keys for strokes. */
function isCrowded(graph: Graph, lanes: readonly Lane[]): boolean {
  let count = 0;
  for (const lane of lanes) {
    const [first, last] = keysBetween(graph, lane.channel, graph.area.left, graph.area.left + graph.area.width);
    count += last - first;
  }
  return count > MAX_STROKED_KEYS;
}

function drawSelection(paint: Paint, graph: Graph): void {
  const lanes = graph.lanes.filter((lane) => graph.selection.has(lane.channel));
  if (countKeys(graph.selection, graph.channels) <= MAX_HANDLES) {
    for (const lane of lanes) drawSelected(paint, graph, lane);
    return;
  }
  drawRastered(paint, graph, (raster, local) => {
    for (const lane of lanes) {
      const n = graph.channels[lane.channel].columns.length;
      const flags = graph.selection.get(lane.channel) as Uint8Array;
      stampKeys(raster, local, lane, 3.5, (key) => flags[key * n + lane.column] === 1, AMBER, true);
    }
  });
}

function drawCurve(paint: Paint, graph: Graph, lane: Lane, samples: Samples): void {
  paint.beginPath();
  trace(graph, lane, paint, samples);
  paint.lineWidth = 1.25;
  paint.lineJoin = "bevel"; // mitres would stick out of dense curves
  paint.strokeStyle = lane.colour;
  paint.stroke();
}

/** Keys as small diamonds; of overlapping keys only the first. */
function drawKeys(paint: Paint, graph: Graph, lane: Lane): void {
  const factors = keyFactors(graph.channels[lane.channel]);
  const [first, last] = keysBetween(graph, lane.channel, graph.area.left - 6, graph.area.left + graph.area.width + 6);
  const across = graph.area.width / Math.max(1, last - first);
  if (across < MIN_KEY_DISTANCE_PX / 2) return; // more keys than pixels: draw the curve only
  let x = -Infinity;
  let y = -Infinity;
  paint.beginPath();
  for (let key = first; key < last; key++) {
    const point = keyPoint(graph, lane, key, factors);
    if (Math.abs(point.x - x) < MIN_KEY_DISTANCE_PX && Math.abs(point.y - y) < MIN_KEY_DISTANCE_PX) continue;
    ({ x, y } = point);
    addDiamond(paint, x, y, 3.5);
  }
  paint.fillStyle = lane.colour;
  paint.fill();
}

/** Selected keys with their handles. */
function drawSelected(paint: Paint, graph: Graph, lane: Lane): void {
  const flags = graph.selection.get(lane.channel) as Uint8Array;
  const channel = graph.channels[lane.channel];
  const n = channel.columns.length;
  const factors = keyFactors(channel);
  const keys = new Path2D();
  const arms = new Path2D();
  const ends = new Path2D();
  for (let key = 0; key < channel.times.length; key++) {
    if (!flags[key * n + lane.column]) continue;
    const { x, y } = keyPoint(graph, lane, key, factors);
    for (const side of ["before", "after"] as Side[])
      addHandle(graph, lane, { channel: lane.channel, column: lane.column, key, side }, factors, arms, ends);
    addDiamond(keys, x, y, 4.5);
  }
  paint.lineWidth = 1;
  paint.strokeStyle = "#f2a33ab0";
  paint.stroke(arms);
  paint.fillStyle = "#1e2126";
  paint.strokeStyle = AMBER;
  paint.fill(ends);
  paint.stroke(ends);
  paint.fillStyle = AMBER;
  paint.fill(keys);
}

/** A handle: its arm, and at its end a ring, or a square if the key is broken. */
function addHandle(
  graph: Graph,
  lane: Lane,
  place: HandlePlace,
  factors: Float64Array,
  arms: Path2D,
  ends: Path2D,
): void {
  const channel = graph.channels[lane.channel];
  if (!hasHandle(channel, place.key, place.side)) return;
  const from = keyPoint(graph, lane, place.key, factors);
  const to = handlePoint(graph, lane, place, factors);
  arms.moveTo(from.x, from.y);
  arms.lineTo(to.x, to.y);
  if (isBroken(channel, place.key, place.column)) ends.rect(to.x - 2.5, to.y - 2.5, 5, 5);
  else {
    ends.moveTo(to.x + 3, to.y);
    ends.arc(to.x, to.y, 3, 0, 2 * Math.PI);
  }
}

function drawHovered(paint: Paint, graph: Graph, place: KeyPlace): void {
  const lane = graph.lanes.find(
    (candidate) => candidate.channel === place.channel && candidate.column === place.column,
  );
  if (!lane || place.key >= graph.channels[lane.channel].times.length) return;
  const { x, y } = keyPoint(graph, lane, place.key, keyFactors(graph.channels[lane.channel]));
  paint.beginPath();
  addDiamond(paint, x, y, 7);
  paint.lineWidth = 1.25;
  paint.strokeStyle = "#d9dce1";
  paint.stroke();
}

/** The box around a selection, whose edges stretch it; the hovered edge is highlighted. */
export function drawSelectionBox(paint: Paint, box: Box, edge: string | null): void {
  const [left, top, right, bottom] = [
    box.left - GRIP_PX,
    box.top - GRIP_PX,
    box.right + GRIP_PX,
    box.bottom + GRIP_PX,
  ].map((at) => Math.round(at) + 0.5);
  paint.lineWidth = 1;
  paint.strokeStyle = "#f2a33a50";
  paint.strokeRect(left, top, right - left, bottom - top);
  const lines = {
    left: [left, top, left, bottom],
    right: [right, top, right, bottom],
    top: [left, top, right, top],
    bottom: [left, bottom, right, bottom],
  };
  if (!edge || !(edge in lines)) return;
  const [ax, ay, bx, by] = lines[edge as keyof typeof lines];
  paint.lineWidth = 2;
  paint.strokeStyle = AMBER;
  paint.beginPath();
  paint.moveTo(ax, ay);
  paint.lineTo(bx, by);
  paint.stroke();
}

export function drawBox(paint: Paint, box: Box): void {
  paint.fillStyle = "#f2a33a1a";
  paint.fillRect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  paint.lineWidth = 1;
  paint.strokeStyle = "#f2a33a90";
  paint.setLineDash([4, 3]);
  paint.strokeRect(box.left + 0.5, box.top + 0.5, box.right - box.left, box.bottom - box.top);
  paint.setLineDash([]);
}
