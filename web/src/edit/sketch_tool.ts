/** Sketching: a stroke on the screen becomes a path in space, as deep as the old path lies there. */
import { Vector3 } from "three";
import type { Context } from "../context";
import type { CurveLayer } from "./curve_layer";
import { onPlane, type Triple, triple, vector } from "./geometry";
import { svg } from "./gizmo";
import { segmentOf } from "./paths";
import type { EditSession } from "./session";
import type { EditView } from "./view";

const LEAST = 12; // px: shorter is no stroke
const CLOSE = 60; // px: a stroke that begins or ends this near to the path begins or ends at that time

export interface Place {
  x: number;
  y: number;
}

/** A stroke without its tremble: places at even distances along it, px. */
export function even(stroke: readonly Place[], step: number): Place[] {
  const result: Place[] = stroke.length ? [stroke[0]] : [];
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
 * From when to when a stroke is meant: where its ends lie next to the path, or the keys around now where they do not.
 */
export function spanOf(
  stroke: readonly Place[],
  path: Float32Array,
  times: Float32Array,
  keys: ArrayLike<number>,
  now: number,
  seconds: number,
): { start: number; stop: number } {
  const nearest = (at: Place): { time: number; distance: number } => {
    let found = { time: now, distance: Infinity };
    for (let f = 0; f < times.length; f++) {
      const distance = Math.hypot(path[3 * f] - at.x, path[3 * f + 1] - at.y);
      if (distance < found.distance) found = { time: times[f], distance };
    }
    return found;
  };
  const [a, b] = [nearest(stroke[0]), nearest(stroke[stroke.length - 1])];
  const close = a.distance < CLOSE && b.distance < CLOSE && Math.abs(b.time - a.time) > 0.08;
  return close ? { start: Math.min(a.time, b.time), stop: Math.max(a.time, b.time) } : segmentOf(keys, now, seconds);
}

export function createSketching(
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

  async function fitStroke(stroke: Place[]): Promise<void> {
    const curve = view.active === null ? undefined : layer.shown(view.active);
    const path = curve && layer.screen(curve.curve);
    const times = layer.paths?.times;
    const state = session.state;
    if (!curve || !path || !times || !state || stroke.length < 2) return;
    const span = spanOf(stroke, path, times, layer.keys(curve.curve), store.time, state.seconds);
    const looks = stage.pointerRay(stage.canvas.clientWidth / 2, stage.canvas.clientHeight / 2).ray.direction;
    const [from, to] = [layer.place(curve.curve, span.start), layer.place(curve.curve, span.stop)].map((p) =>
      vector(p ?? [0, 0, 0]),
    );
    const places = even(stroke, 4).map((at, i, all): Triple => {
      const through = from.clone().lerp(to, i / Math.max(1, all.length - 1));
      return triple(onPlane(stage.pointerRay(at.x, at.y).ray, through, looks) ?? new Vector3());
    });
    busy(`Fitting the stroke to ${curve.name}, ${span.start.toFixed(2)} to ${span.stop.toFixed(2)} s…`);
    const found = await session.ask({
      kind: "editSketch",
      point: curve.point,
      stroke: places,
      start: span.start,
      stop: span.stop,
    });
    busy("");
    if (found && (!found.reached || found.notes.length))
      notices.show(
        found.reached ? "info" : "warning",
        found.sentence || "The stroke is followed.",
        found.notes.join(" "),
      );
  }

  return (down, clicked) => {
    if (view.active === null) return false;
    const box = stage.canvas.getBoundingClientRect();
    const at = (event: PointerEvent): Place => ({ x: event.clientX - box.left, y: event.clientY - box.top });
    const stroke: Place[] = [at(down)];
    stage.canvas.setPointerCapture(down.pointerId);
    const draw = (): void =>
      line.setAttribute("d", `M${stroke.map((p) => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("L")}`);
    const move = (event: PointerEvent): void => {
      for (const each of event.getCoalescedEvents?.() ?? [event]) stroke.push(at(each));
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
      if (Math.hypot(...spread(stroke)) >= LEAST) void fitStroke(stroke);
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
function spread(stroke: readonly Place[]): [number, number] {
  const [xs, ys] = [stroke.map((p) => p.x), stroke.map((p) => p.y)];
  return [Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)];
}
