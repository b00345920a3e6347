/** Display options: the curves, and the onion skin. */
import { numberField } from "../controls/number";
import { h } from "../dom";
import type { Display, EditView } from "./view";

export function viewSection(view: EditView): HTMLElement {
  const checks: [keyof Display, string, string][] = [
    ["speed", "Speed as colour", "Pale where the point is fast, deep where it is slow; dots spread where it is fast"],
    ["dots", "A dot a frame", "Spacing is timing"],
    ["ticks", "Orientation", "Ticks along the local y axis of the active path"],
    ["names", "Names", "The name of each path beside its point"],
    ["camera", "As the camera follows", "Paths relative to the character, as seen by a camera that follows it"],
  ];
  const boxes = checks.map(([name, title, about]) => {
    const box = h("input", { type: "checkbox", "data-testid": `edit-view-${name}` });
    box.addEventListener("change", () => view.show({ [name]: box.checked }));
    return { name, box, element: h("label", { class: "check", title: about }, box, title) };
  });
  const window = numberField({
    label: "Seconds around the current time with full opacity",
    value: view.display.window,
    reset: 1.5,
    minimum: 0.1,
    maximum: 60,
    step: 0.1,
    unit: "s",
    change: (value) => view.show({ window: value }),
  });
  const ghosts = numberField({
    label: "Ghosts before and after",
    value: view.display.ghosts,
    reset: 0,
    minimum: 0,
    maximum: 6,
    step: 1,
    digits: 0,
    change: (value) => view.show({ ghosts: value }),
  });
  const apart = numberField({
    label: "Frames between ghosts; 0 for the keys",
    value: view.display.apart,
    reset: 5,
    minimum: 0,
    maximum: 60,
    step: 1,
    digits: 0,
    unit: "frames",
    change: (value) => view.show({ apart: value }),
  });

  function draw(): void {
    for (const { name, box } of boxes) box.checked = Boolean(view.display[name]);
    window.value = view.display.window;
    ghosts.value = view.display.ghosts;
    apart.value = view.display.apart;
  }
  view.onChange(draw);
  draw();
  const field = (title: string, element: HTMLElement, about: string): HTMLElement =>
    h("div", { class: "field", title: about }, h("span", {}, title), element);
  return h(
    "details",
    { class: "section", open: true },
    h("summary", {}, "View"),
    h("div", { class: "checks" }, ...boxes.map((check) => check.element)),
    field("In full, around now", window.element, "The rest of a path is drawn fainter"),
    field(
      "Ghosts each way (O)",
      ghosts.element,
      "The character at other times, transparent: rose before the current time, teal after it",
    ),
    field("Apart", apart.element, "0 puts them at the keys"),
  );
}
