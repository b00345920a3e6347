/** Sketching: a stroke on the screen becomes a path in space, at the depth of the old path. */
import { Vector3 } from "three";
import type { Context } from "../context";
import type { EditSketched, EditSketchRequest } from "../protocol/messages";
import type { CurveLayer } from "./curve_layer";
import { formatLength } from "./drag";
import { intersectPlane, type Triple, triple, vector } from "./geometry";
import { svg } from "./gizmo";
import { frameOf, type MotionCurve, type Paths, positionAt } from "./paths";
import type { EditSession } from "./session";
import type { EditView } from "./view";

const MIN_STROKE_PX = 12; // a shorter stroke is a click
const SNAP_DISTANCE_PX = 60; // a stroke whose ends are this close to the path is meant for that part of it
// Seconds that a stroke lasts, at least and at most, unless the timeline has a range.
const MIN_STROKE_S = 0.2;
const MAX_STROKE_S = 2;
const SEARCH_S = 1; // seconds around the current time in which a stroke may lie
const LATE_PX_PER_S = 60; // a stroke further from the current time has to lie this much nearer to the path
const STEPS_PER_S = 60; // of that search
const PREVIEW_INTERVAL_MS = 200; // between two previews, at least
export const DEFAULT_STROKE_FALLOFF_S = 0.3;

export interface ScreenPoint {
  x: number;
  y: number;
}

export interface StrokeSpan {
  start: number; // seconds
  stop: number;
  reversed: boolean; // the stroke was drawn against the motion
}

/** Resamples a stroke at even distances (px), which removes jitter. */
export function resample(stroke: readonly ScreenPoint[], step: number): ScreenPoint[] {
  const result: ScreenPoint[] = stroke.length ? [stroke[0]] : [];
  let rest = step;
  for (let i = 1; i < stroke.length; i++) {
    const [a, b] = [stroke[i - 1], stroke[i]];
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    let at = rest;
    for (; at <= length; at += step)
      result.push({ x: a.x + ((b.x - a.x) * at) / length, y: a.y + ((b.y - a.y) * at) / length });
    rest = at - length;
  }
  return result;
}

/** The length of a polyline, px. */
export const strokeLength = (stroke: readonly ScreenPoint[]): number =>
  stroke.slice(1).reduce((sum, at, i) => sum + Math.hypot(at.x - stroke[i].x, at.y - stroke[i].y), 0);

/**
 * The time span of a stroke: as long as the point takes for a way of its own of the same length, 0.2 to 2 s. It lies
 * around the current time, or near it where the stroke is drawn along the path. `path` has x, y and a depth for each
 * frame, px.
 */
export function strokeSpan(
  stroke: readonly ScreenPoint[],
  path: Float32Array,
  times: Float32Array,
  now: number,
): StrokeSpan {
  const length = strokeLength(stroke);
  const [first, last] = [times[0], times[times.length - 1]];
  const gone = new Float32Array(times.length); // px, the way up to each frame
  for (let f = 1; f < times.length; f++)
    gone[f] = gone[f - 1] + Math.hypot(path[3 * f] - path[3 * f - 3], path[3 * f + 1] - path[3 * f - 2]);
  const at = (values: (frame: number) => number, time: number): number => {
    const { frame, share } = frameOf(times, time);
    return (1 - share) * values(frame) + share * values(Math.min(frame + 1, times.length - 1));
  };
  const spanAround = (middle: number): { start: number; stop: number } => {
    for (let half = MIN_STROKE_S / 2; ; half += 0.5 / STEPS_PER_S) {
      const start = Math.max(first, Math.min(middle - half, last - 2 * half));
      const stop = Math.min(last, start + 2 * half);
      const way = at((f) => gone[f], stop) - at((f) => gone[f], start);
      if (way >= length || half >= MAX_STROKE_S / 2) return { start, stop };
    }
  };
  const distance = (to: ScreenPoint, time: number): number =>
    Math.hypot(at((f) => path[3 * f], time) - to.x, at((f) => path[3 * f + 1], time) - to.y);
  const [begin, end] = [stroke[0], stroke[stroke.length - 1]];
  let best: (StrokeSpan & { score: number }) | null = null;
  for (let step = -SEARCH_S * STEPS_PER_S; step <= SEARCH_S * STEPS_PER_S; step++) {
    const middle = now + step / STEPS_PER_S;
    if (middle < first || middle > last) continue;
    const { start, stop } = spanAround(middle);
    for (const reversed of [false, true]) {
      const [a, b] = reversed ? [end, begin] : [begin, end];
      const away = [distance(a, start), distance(b, stop)];
      if (Math.max(...away) > SNAP_DISTANCE_PX) continue;
      const score = away[0] + away[1] + LATE_PX_PER_S * Math.abs(middle - now);
      if (!best || score < best.score) best = { start, stop, reversed, score };
    }
  }
  if (best) return { start: best.start, stop: best.stop, reversed: best.reversed };
  return { ...spanAround(Math.min(last, Math.max(first, now))), reversed: false };
}

/** The path as it was when the stroke began: previews change the shown one. */
interface OldPath {
  paths: Paths;
  curve: MotionCurve;
  screen: Float32Array;
}

export function createSketchTool(
  { stage, store }: Context,
  host: HTMLElement,
  session: EditSession,
  layer: CurveLayer,
  view: EditView,
  busy: (text: string) => void,
  onResult: (name: string, result: EditSketched) => void,
): (event: PointerEvent, clicked: (event: PointerEvent) => void) => boolean {
  const [line, before] = [svg("path", {}), svg("path", { class: "before" })];
  const root = svg("svg", { class: "edit-stroke hidden", "aria-hidden": "true", "data-testid": "edit-stroke" });
  root.append(before, line);
  host.append(root);

  /** The range of the timeline, if one is set. */
  function chosenRange(): { start: number; stop: number } | null {
    const [range, seconds] = [store.document?.stage, session.state?.seconds ?? 0];
    const [start, stop] = [range?.start ?? 0, Math.min(range?.stop ?? seconds, seconds)];
    return start > 1e-6 || stop < seconds - 1e-6 ? { start, stop } : null;
  }

  function copyPath(number: number): OldPath | null {
    const [paths, screen] = [layer.paths, layer.screenPath(number)];
    const curve = paths?.curves.get(number);
    if (!paths || !curve || !screen) return null;
    const copy = { ...curve, positions: Float32Array.from(curve.positions) };
    return { paths: { times: Float32Array.from(paths.times), curves: new Map() }, curve: copy, screen: screen.slice() };
  }

  /** The request for a stroke, and shows its span; null without an active curve. */
  function requestOf(stroke: readonly ScreenPoint[], old: OldPath): EditSketchRequest | null {
    const curve = view.active === null ? undefined : layer.curveEntry(view.active);
    if (!curve || stroke.length < 2) return null;
    const chosen = chosenRange();
    const span = chosen ? { ...chosen, reversed: false } : strokeSpan(stroke, old.screen, old.paths.times, store.time);
    const looks = stage.pointerRay(stage.canvas.clientWidth / 2, stage.canvas.clientHeight / 2).ray.direction;
    const [from, to] = [span.start, span.stop].map((time) => vector(positionAt(old.paths, old.curve, time)));
    const drawn = resample(stroke, 4);
    if (span.reversed) drawn.reverse();
    const places = drawn.map((at, i): Triple => {
      const through = from.clone().lerp(to, i / Math.max(1, drawn.length - 1));
      return triple(intersectPlane(stage.pointerRay(at.x, at.y).ray, through, looks) ?? new Vector3());
    });
    const { start, stop } = span;
    const { reach } = view;
    const radius = view.falloff ?? DEFAULT_STROKE_FALLOFF_S;
    if (reach?.start !== start || reach.stop !== stop || reach.radius !== radius) view.reach = { start, stop, radius };
    drawBefore(old, start, stop);
    return {
      kind: "editSketch",
      point: curve.point,
      stroke: places,
      start,
      stop,
      falloff: session.state?.windowed ? radius : null,
    };
  }

  const pathData = (points: readonly ScreenPoint[]): string =>
    points.length ? `M${points.map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("L")}` : "";

  function drawBefore({ paths, screen }: OldPath, start: number, stop: number): void {
    const points: ScreenPoint[] = [];
    for (let f = 0; f < paths.times.length; f++)
      if (paths.times[f] >= start && paths.times[f] <= stop) points.push({ x: screen[3 * f], y: screen[3 * f + 1] });
    before.setAttribute("d", pathData(points));
  }

  const spanText = ({ start, stop }: EditSketchRequest): string => `${start.toFixed(2)} to ${stop.toFixed(2)} s`;

  async function fitStroke(stroke: readonly ScreenPoint[], old: OldPath): Promise<void> {
    const request = requestOf(stroke, old);
    const name = view.active === null ? "" : (layer.curveEntry(view.active)?.name ?? "");
    if (!request) return;
    busy(`Fitting the stroke to ${name}, ${spanText(request)}…`);
    const { reach } = view;
    const result = await session.ask(request);
    busy("");
    if (!result) {
      view.reach = null;
      return void session.ask({ kind: "editAbandon" });
    }
    onResult(name, result);
    view.reach = reach; // the change of the curves has removed it, with the card of an earlier drag
  }

  return (down, clicked) => {
    const old = view.active === null ? null : copyPath(view.active);
    if (!old) return false;
    const box = stage.canvas.getBoundingClientRect();
    const at = (event: PointerEvent): ScreenPoint => ({ x: event.clientX - box.left, y: event.clientY - box.top });
    const stroke: ScreenPoint[] = [at(down)];
    stage.canvas.setPointerCapture(down.pointerId);
    let drawing = true;
    let previewed = 0; // points of the stroke that the last preview had
    let waiting = false;
    let previews = 0;
    /** Shows how the point would follow the stroke so far; one preview at a time. */
    async function preview(): Promise<void> {
      if (waiting || !drawing || !old || stroke.length === previewed) return;
      if (Math.hypot(...strokeSize(stroke)) < MIN_STROKE_PX) return;
      previewed = stroke.length;
      const request = requestOf(stroke, old);
      if (!request) return;
      busy(`Drawing ${spanText(request)}…`);
      waiting = true;
      const result = await session.ask({ ...request, preview: true });
      waiting = false;
      if (!drawing || !result) return;
      previews++;
      root.dataset.previews = String(previews);
      if (!result.replaced)
        busy(`Preview, ${spanText(request)}: ${formatLength(result.distance)} off the stroke at most`);
    }
    const timer = window.setInterval(() => void preview(), PREVIEW_INTERVAL_MS);
    const move = (event: PointerEvent): void => {
      for (const coalesced of event.getCoalescedEvents?.() ?? [event]) stroke.push(at(coalesced));
      root.classList.remove("hidden");
      line.setAttribute("d", pathData(stroke));
    };
    const stop = (): void => {
      drawing = false;
      clearInterval(timer);
      stage.canvas.removeEventListener("pointermove", move);
      stage.canvas.removeEventListener("pointerup", up);
      window.removeEventListener("keydown", key, true);
      root.classList.add("hidden");
      before.setAttribute("d", "");
      busy("");
    };
    const abandon = (): void => {
      view.reach = null;
      if (previewed) void session.ask({ kind: "editAbandon" });
    };
    const up = (event: PointerEvent): void => {
      stop();
      if (Math.hypot(...strokeSize(stroke)) >= MIN_STROKE_PX) return void fitStroke(stroke, old);
      abandon();
      clicked(event);
    };
    const key = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      stop();
      abandon();
    };
    stage.canvas.addEventListener("pointermove", move);
    stage.canvas.addEventListener("pointerup", up);
    window.addEventListener("keydown", key, true);
    return true;
  };
}

/** Width and height of a stroke. */
function strokeSize(stroke: readonly ScreenPoint[]): [number, number] {
  const [xs, ys] = [stroke.map((p) => p.x), stroke.map((p) => p.y)];
  return [Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)];
}
