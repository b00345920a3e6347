/** Names next to the curves, so that they can be distinguished without their colours. */
import type { Context } from "../context";
import { h } from "../dom";
import type { CurveLayer } from "./curve_layer";
import type { EditSession } from "./session";
import type { EditView } from "./view";

const OFFSET_X_PX = 14; // right of the point
// below the active point, clear of its handles
const OFFSET_Y_PX = { move: 20, turn: 80, time: 24, sketch: -9 } as const;
const LABEL_HEIGHT_PX = 19; // minimum distance between two names

/** Vertical positions of labels that do not overlap, close to the wanted ones; earlier labels have priority. */
export function separateLabels(wanted: readonly { x: number; y: number; width: number }[], height: number): number[] {
  const placed: { x: number; y: number; width: number }[] = [];
  for (const label of wanted) {
    const clash = (y: number): boolean =>
      placed.some(
        (other) => Math.abs(other.y - y) < height && label.x < other.x + other.width && other.x < label.x + label.width,
      );
    let y = label.y;
    for (let step = 1; clash(y) && step < 40; step++)
      y = label.y + (step % 2 ? 1 : -1) * Math.ceil(step / 2) * (height / 2);
    placed.push({ ...label, y });
  }
  return placed.map((label) => label.y);
}

export function createCurveLabels(
  { stage, store }: Context,
  host: HTMLElement,
  session: EditSession,
  layer: CurveLayer,
  view: EditView,
): { awake: boolean } {
  const root = h("div", { class: "edit-tags" });
  host.append(root);
  const labels = new Map<number, { element: HTMLElement; width: number; shown: string }>();
  let awake = false;

  function build(): void {
    const curves = session.state?.curves ?? [];
    for (const [number, tag] of labels)
      if (!curves.some((entry) => entry.curve === number)) {
        tag.element.remove();
        labels.delete(number);
      }
    for (const { curve, name } of curves) {
      const known = labels.get(curve);
      if (known?.element.textContent === name) continue;
      known?.element.remove();
      const element = h("span", { class: "edit-tag", "data-curve": curve }, name);
      root.append(element);
      labels.set(curve, { element, width: element.offsetWidth, shown: "" });
    }
  }

  function update(): void {
    root.classList.toggle("hidden", !awake || !view.display.names);
    if (!awake || !view.display.names) return;
    const { width, height } = stage.size;
    const visible = [...labels].flatMap(([curve, tag]) => {
      const place = layer.place(curve, store.time);
      const at = place && stage.project(place);
      if (!tag.width) tag.width = tag.element.offsetWidth;
      tag.element.classList.toggle("hidden", !at?.visible);
      if (!at?.visible) return [];
      const low = curve === view.active ? OFFSET_Y_PX[view.tool] : -9;
      // Above the point if there is no room below.
      const y = at.y + low + LABEL_HEIGHT_PX <= height ? at.y + low : Math.min(at.y - low, height) - LABEL_HEIGHT_PX;
      return [{ curve, tag, x: Math.min(at.x + OFFSET_X_PX, width - tag.width), y, width: tag.width }];
    });
    // The active label keeps its position, the others make room.
    visible.sort((a, b) => Number(b.curve === view.active) - Number(a.curve === view.active) || a.y - b.y);
    const heights = separateLabels(visible, LABEL_HEIGHT_PX);
    visible.forEach(({ curve, tag, x }, i) => {
      const shown = `translate(${x.toFixed(0)}px, ${heights[i].toFixed(0)}px)`;
      if (tag.shown !== shown) tag.element.style.transform = tag.shown = shown;
      tag.element.classList.toggle("current", curve === view.active);
    });
  }

  session.onState(() => {
    build();
    update();
  });
  stage.onDrawn(update);
  view.onChange(update);
  return {
    get awake() {
      return awake;
    },
    set awake(next) {
      awake = next;
      update();
    },
  };
}
