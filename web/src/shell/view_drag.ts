/** Moves the view by key and pointer: G, R, S (or W, E, R) pan, turn and zoom it, for use without a middle button. */
import type { Context } from "../context";
import { h } from "../dom";
import type { View } from "../stage/api";

export type ViewDrag = "pan" | "turn" | "zoom";

const TITLES: Record<ViewDrag, string> = { pan: "Moving the view", turn: "Turning the view", zoom: "Zooming the view" };
const CURSORS: Record<ViewDrag, string> = { pan: "move", turn: "grabbing", zoom: "ns-resize" };
const MAX_ELEVATION = 1.5; // radians; below the pole

/** The view after the pointer has moved by (dx, dy) px on a stage of this height. */
export function viewAfter(view: View, viewDrag: ViewDrag, dx: number, dy: number, height: number): View {
  if (viewDrag === "turn") {
    const elevation = Math.max(-MAX_ELEVATION, Math.min(MAX_ELEVATION, view.elevation + dy * 0.008));
    return { ...view, azimuth: view.azimuth - dx * 0.008, elevation };
  }
  if (viewDrag === "zoom") return { ...view, distance: view.distance * Math.exp(dy * 0.006) };
  // The image follows the pointer: the height of the screen is about 0.8 of the distance at the target.
  const metres = (0.8 * view.distance) / height;
  const right = [Math.cos(view.azimuth), 0, -Math.sin(view.azimuth)];
  const lift = Math.sin(view.elevation);
  const up = [-Math.sin(view.azimuth) * lift, Math.cos(view.elevation), -Math.cos(view.azimuth) * lift];
  const target = view.target.map((value, axis) => value - metres * dx * right[axis] + metres * dy * up[axis]);
  return { ...view, target: target as View["target"] };
}

/** Begins a drag: the pointer moves the view until a click keeps it or Esc restores it. */
export function createViewDrag({ stage }: Pick<Context, "stage">, host: HTMLElement): (viewDrag: ViewDrag) => void {
  let end: ((restore: boolean) => void) | null = null;

  return (viewDrag) => {
    end?.(false);
    const before = stage.view;
    const line = h(
      "div",
      { class: "gesture", role: "status" },
      h("strong", {}, TITLES[viewDrag]),
      " Move the pointer; click to keep it, ",
      h("kbd", {}, "Esc"),
      " to go back.",
    );
    const shield = h("div", { class: "gesture-shield", style: `cursor: ${CURSORS[viewDrag]}` }, line);
    let from: { x: number; y: number } | null = null;
    const move = (event: PointerEvent) => {
      from ??= { x: event.clientX, y: event.clientY };
      stage.view = viewAfter(
        before,
        viewDrag,
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
    const suppress = (event: Event) => event.preventDefault();
    end = (restore) => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("keydown", key, true);
      shield.remove();
      if (restore) stage.view = before;
      end = null;
    };
    shield.addEventListener("pointerdown", press);
    shield.addEventListener("contextmenu", suppress);
    window.addEventListener("pointermove", move);
    window.addEventListener("keydown", key, true);
    host.append(shield);
  };
}
