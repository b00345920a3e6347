/**
 * The view moved by keys and pointer: G, R, S (or W, E, R) pan, turn and zoom it, for hands without a middle button.
 */
import type { Context } from "../context";
import { h } from "../dom";
import type { View } from "../stage/api";

export type Gesture = "pan" | "turn" | "zoom";

const TITLES: Record<Gesture, string> = { pan: "Moving the view", turn: "Turning the view", zoom: "Zooming the view" };
const CURSORS: Record<Gesture, string> = { pan: "move", turn: "grabbing", zoom: "ns-resize" };
const STEEPEST = 1.5; // radians: the camera never goes over the top

/** A view after the pointer has moved by (dx, dy) px on a stage of some height. */
export function viewAfter(view: View, gesture: Gesture, dx: number, dy: number, height: number): View {
  if (gesture === "turn") {
    const elevation = Math.max(-STEEPEST, Math.min(STEEPEST, view.elevation + dy * 0.008));
    return { ...view, azimuth: view.azimuth - dx * 0.008, elevation };
  }
  if (gesture === "zoom") return { ...view, distance: view.distance * Math.exp(dy * 0.006) };
  // The picture follows the pointer: a screen's height is about 0.8 of the distance wide at the target.
  const metres = (0.8 * view.distance) / height;
  const right = [Math.cos(view.azimuth), 0, -Math.sin(view.azimuth)];
  const lift = Math.sin(view.elevation);
  const up = [-Math.sin(view.azimuth) * lift, Math.cos(view.elevation), -Math.cos(view.azimuth) * lift];
  const target = view.target.map((value, axis) => value - metres * dx * right[axis] + metres * dy * up[axis]);
  return { ...view, target: target as View["target"] };
}

/** Begins a gesture: the pointer moves the view until a click keeps it or Esc takes it back. */
export function createViewing({ stage }: Pick<Context, "stage">, host: HTMLElement): (gesture: Gesture) => void {
  let end: ((restore: boolean) => void) | null = null;

  return (gesture) => {
    end?.(false);
    const before = stage.view;
    const line = h(
      "div",
      { class: "gesture", role: "status" },
      h("strong", {}, TITLES[gesture]),
      " Move the pointer; click to keep it, ",
      h("kbd", {}, "Esc"),
      " to go back.",
    );
    const shield = h("div", { class: "gesture-shield", style: `cursor: ${CURSORS[gesture]}` }, line);
    let from: { x: number; y: number } | null = null;
    const move = (event: PointerEvent) => {
      from ??= { x: event.clientX, y: event.clientY };
      stage.view = viewAfter(
        before,
        gesture,
        event.clientX - from.x,
        event.clientY - from.y,
        Math.max(1, stage.canvas.clientHeight),
      );
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== "Escape" && event.key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
      end?.(event.key === "Escape");
    };
    const press = (event: PointerEvent) => {
      event.preventDefault();
      event.stopPropagation();
      end?.(event.button === 2);
    };
    const quiet = (event: Event) => event.preventDefault();
    end = (restore) => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("keydown", key, true);
      shield.remove();
      if (restore) stage.view = before;
      end = null;
    };
    shield.addEventListener("pointerdown", press);
    shield.addEventListener("contextmenu", quiet);
    window.addEventListener("pointermove", move);
    window.addEventListener("keydown", key, true);
    host.append(shield);
  };
}
