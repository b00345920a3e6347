/** A slider with its name, its number and its unit; the number can be typed, a double click resets both. */
import { h } from "../dom";
import { type NumberOptions, numberField } from "./number";

/** The keys that a slider handles itself. */
export const RANGE_KEYS: ReadonlySet<string> = new Set([
  "ArrowLeft",
  "ArrowRight",
  "ArrowUp",
  "ArrowDown",
  "Home",
  "End",
  "PageUp",
  "PageDown",
]);

export interface Slider {
  element: HTMLElement;
  value: number;
}

/** A slider between `minimum` and `maximum` (0 and 1 by default). `about` says what it does or costs. */
export function slider(options: NumberOptions & { about?: string }): Slider {
  const minimum = options.minimum ?? 0;
  const maximum = options.maximum ?? 1;
  const step = options.step ?? 0.01;
  const track = h("input", {
    type: "range",
    min: minimum,
    max: maximum,
    step,
    "aria-label": options.label,
    title: options.about,
  });
  const number = numberField({
    ...options,
    minimum,
    maximum,
    step,
    input(value) {
      show(value);
      options.input?.(value);
    },
  });

  function show(value: number): void {
    track.value = String(value);
    const part = maximum > minimum ? (100 * (value - minimum)) / (maximum - minimum) : 0;
    track.style.setProperty("--filled", `${part}%`);
  }

  let before: number | null = null; // value before the current drag
  let cancelled = false; // by Esc, until the pointer is released
  track.addEventListener("pointerdown", () => {
    before = number.value;
    cancelled = false;
    const up = (): void => {
      before = null;
      window.setTimeout(() => (cancelled = false)); // after the change event of the release
    };
    window.addEventListener("pointerup", up, { once: true });
  });
  track.addEventListener("input", () => {
    if (cancelled) return show(number.value);
    number.value = Number(track.value);
    show(number.value);
    options.input?.(number.value);
  });
  track.addEventListener("change", () => (cancelled ? show(number.value) : options.change?.(number.value)));
  track.addEventListener("keydown", (event) => {
    // other keys belong to the page: Space plays, Ctrl+Z undoes
    if (RANGE_KEYS.has(event.key)) return event.stopPropagation();
    if (event.key !== "Escape" || before === null) return;
    event.stopPropagation();
    cancelled = true;
    number.value = before;
    show(before);
    options.input?.(before);
    options.cancel?.();
  });
  track.addEventListener("dblclick", () => {
    number.value = options.reset ?? options.value;
    show(number.value);
    options.input?.(number.value);
    options.change?.(number.value);
  });
  show(number.value);

  return {
    element: h(
      "div",
      { class: "slider", title: options.about },
      h("label", { class: "nowrap" }, options.label),
      track,
      number.element,
    ),
    get value() {
      return number.value;
    },
    set value(next: number) {
      number.value = next;
      show(number.value);
    },
  };
}
