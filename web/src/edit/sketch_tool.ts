/** Sketching: a stroke on the screen becomes a path in space, at the depth of the old path. */
import { Vector3 } from "three";
import type { Context } from "../context";
import type { CurveLayer } from "./curve_layer";
import { intersectPlane, type Triple, triple, vector } from "./geometry";
import { svg } from "./gizmo";
import { segmentOf } from "./paths";
import type { EditSession } from "./session";
import type { EditView } from "./view";

const MIN_STROKE_PX = 12; // a shorter stroke is a click
const SNAP_DISTANCE_PX = 60; // a stroke that begins or ends this close to the curve begins or ends at the time there

export interface ScreenPoint {
  x: number;
  y: number;
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

/**
 * The time span of a stroke: between the times where its ends lie on the curve, or else the keys around the current
 * time.
 */
export function strokeSpan(
  stroke: readonly ScreenPoint[],
  path: Float32Array,
  times: Float32Array,
  keys: ArrayLike<number>,
  now: number,
  seconds: number,
): { start: number; stop: number } {
  const nearest = (at: ScreenPoint): { time: number; distance: number } => {
    let best = { time: now, distance: Infinity };
    for (let f = 0; f < times.length; f++) {
      const distance = Math.hypot(path[3 * f] - at.x, path[3 * f + 1] - at.y);
      if (distance < best.distance) best = { time: times[f], distance };
    }
    return best;
  };
  const [a, b] = [nearest(stroke[0]), nearest(stroke[stroke.length - 1])];
  const close = a.distance < SNAP_DISTANCE_PX && b.distance < SNAP_DISTANCE_PX && Math.abs(b.time - a.time) > 0.08;
  return close ? { start: Math.min(a.time, b.time), stop: Math.max(a.time, b.time) } : segmentOf(keys, now, seconds);
}

export function createSketchTool(
  { stage, store, notices }: Context,
  host: HTMLElement,
  session: EditSession,
  layer: CurveLayer,
  view: EditView,
  busy: (text: string) => void,
): (event: PointerEvent, clicked: (event: PointerEvent) => void) => boolean {
  const line = svg("path", {});
  const root = svg("svg", { class: "edit-stroke hidden", "aria-hidden": "true" }, line);
  host.append(root);

  async function fitStroke(stroke: ScreenPoint[]): Promise<void> {
    const curve = view.active === null ? undefined : layer.curveEntry(view.active);
    const path = curve && layer.screenPath(curve.curve);
    const times = layer.paths?.times;
    const state = session.state;
    if (!curve || !path || !times || !state || stroke.length < 2) return;
    const span = strokeSpan(stroke, path, times, layer.keys(curve.curve), store.time, state.seconds);
    const looks = stage.pointerRay(stage.canvas.clientWidth / 2, stage.canvas.clientHeight / 2).ray.direction;
    const [from, to] = [layer.place(curve.curve, span.start), layer.place(curve.curve, span.stop)].map((p) =>
      vector(p ?? [0, 0, 0]),
    );
    const places = resample(stroke, 4).map((at, i, all): Triple => {
      const through = from.clone().lerp(to, i / Math.max(1, all.length - 1));
      return triple(intersectPlane(stage.pointerRay(at.x, at.y).ray, through, looks) ?? new Vector3());
    });
    busy(`Fitting the stroke to ${curve.name}, ${span.start.toFixed(2)} to ${span.stop.toFixed(2)} s…`);
    const response = await session.ask({
      kind: "editSketch",
      point: curve.point,
      stroke: places,
      start: span.start,
      stop: span.stop,
    });
    busy("");
    if (response && (!response.reached || response.notes.length))
      notices.show(
        response.reached ? "info" : "warning",
        response.sentence || "The stroke is followed.",
        response.notes.join(" "),
      );
  }

  return (down, clicked) => {
    if (view.active === null) return false;
    const box = stage.canvas.getBoundingClientRect();
    const at = (event: PointerEvent): ScreenPoint => ({ x: event.clientX - box.left, y: event.clientY - box.top });
    const stroke: ScreenPoint[] = [at(down)];
    stage.canvas.setPointerCapture(down.pointerId);
    const draw = (): void =>
      line.setAttribute("d", `M${stroke.map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("L")}`);
    const move = (event: PointerEvent): void => {
      for (const coalesced of event.getCoalescedEvents?.() ?? [event]) stroke.push(at(coalesced));
      root.classList.remove("hidden");
      draw();
    };
    const stop = (): void => {
      stage.canvas.removeEventListener("pointermove", move);
      stage.canvas.removeEventListener("pointerup", up);
      window.removeEventListener("keydown", key, true);
      root.classList.add("hidden");
    };
    const up = (event: PointerEvent): void => {
      stop();
      if (Math.hypot(...strokeSize(stroke)) >= MIN_STROKE_PX) void fitStroke(stroke);
      else clicked(event);
    };
    const key = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      stop();
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
