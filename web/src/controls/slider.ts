/** A slider with its name, its number and its unit; the number can be typed, a double click resets both. */
import { h } from "../dom";
import { numberField, type NumberOptions } from "./number";

export interface Slider {
  element: HTMLElement;
  value: number;
}

/** A slider between `minimum` and `maximum` (0 and 1 where not given). `about` says what it does or costs. */
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

  track.addEventListener("input", () => {
    number.value = Number(track.value);
    show(number.value);
    options.input?.(number.value);
  });
  track.addEventListener("change", () => options.change?.(number.value));
  track.addEventListener("keydown", (event) => event.stopPropagation());
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
