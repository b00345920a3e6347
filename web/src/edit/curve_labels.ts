/** Names next to the curves, so that five of them can be told apart without their colour. */
import type { Context } from "../context";
import { h } from "../dom";
import type { CurveLayer } from "./curve_layer";
import type { EditSession } from "./session";
import type { EditView } from "./view";

const BESIDE = 14; // px right of the point
const BELOW = { move: 20, turn: 80, time: 24, sketch: -9 } as const; // px below the point in hand: clear of its handles
const APART = 19; // px between two names, one above the other

/** Heights of labels that do not cover each other, nearest to where they were asked for, in the order given. */
export function apart(wanted: readonly { x: number; y: number; width: number }[], height: number): number[] {
  const placed: { x: number; y: number; width: number }[] = [];
  for (const each of wanted) {
    const clash = (y: number): boolean =>
      placed.some(
        (other) => Math.abs(other.y - y) < height && each.x < other.x + other.width && other.x < each.x + each.width,
      );
    let y = each.y;
    for (let step = 1; clash(y) && step < 40; step++)
      y = each.y + (step % 2 ? 1 : -1) * Math.ceil(step / 2) * (height / 2);
    placed.push({ ...each, y });
  }
  return placed.map((each) => each.y);
}

export function createTags(
  { stage, store }: Context,
  host: HTMLElement,
  session: EditSession,
  layer: CurveLayer,
  view: EditView,
): { awake: boolean } {
  const root = h("div", { class: "edit-tags" });
  host.append(root);
  const tags = new Map<number, { element: HTMLElement; width: number; shown: string }>();
  let awake = false;

  function build(): void {
    const curves = session.state?.curves ?? [];
    for (const [number, tag] of tags)
      if (!curves.some((each) => each.curve === number)) {
        tag.element.remove();
        tags.delete(number);
      }
    for (const { curve, name } of curves) {
      const known = tags.get(curve);
      if (known?.element.textContent === name) continue;
      known?.element.remove();
      const element = h("span", { class: "edit-tag", "data-curve": curve }, name);
      root.append(element);
      tags.set(curve, { element, width: element.offsetWidth, shown: "" });
    }
  }

  function update(): void {
    root.classList.toggle("hidden", !awake || !view.display.names);
    if (!awake || !view.display.names) return;
    const { width, height } = stage.size;
    const found = [...tags].flatMap(([curve, tag]) => {
      const place = layer.place(curve, store.time);
      const at = place && stage.project(place);
      if (!tag.width) tag.width = tag.element.offsetWidth;
      tag.element.classList.toggle("hidden", !at?.visible);
      if (!at?.visible) return [];
      const low = curve === view.active ? BELOW[view.tool] : -9;
      // above, where there is no room below
      const y = at.y + low + APART <= height ? at.y + low : Math.min(at.y - low, height) - APART;
      return [{ curve, tag, x: Math.min(at.x + BESIDE, width - tag.width), y, width: tag.width }];
    });
    // The one in hand has its place, the others make room.
    found.sort((a, b) => Number(b.curve === view.active) - Number(a.curve === view.active) || a.y - b.y);
    const heights = apart(found, APART);
    found.forEach(({ curve, tag, x }, i) => {
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
