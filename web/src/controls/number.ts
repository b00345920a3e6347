/** A number that is dragged, typed, stepped by keys, and reset by a double click. */
import { h } from "../dom";
import { drag } from "./pointer_drag";

export interface NumberOptions {
  label: string; // what it is, for those who cannot see it
  value: number;
  reset?: number; // a double click goes back to it; the first value where not given
  minimum?: number;
  maximum?: number;
  step?: number; // one key press, and 4 px of a drag
  digits?: number;
  unit?: string;
  input?(value: number): void; // while it changes
  change?(value: number): void; // when a gesture ends: one undo step
  cancel?(): void; // when Esc has taken a gesture back
}

export interface NumberField {
  element: HTMLElement;
  value: number; // setting it tells nobody
}

const THRESHOLD = 3; // px before a press becomes a drag
const PIXELS_A_STEP = 4;

/** A value inside its bounds, on its digits. */
export function bounded(value: number, minimum = -Infinity, maximum = Infinity, digits = 6): number {
  const scale = 10 ** digits;
  return Math.min(maximum, Math.max(minimum, Math.round(value * scale) / scale));
}

/** What was typed, as a number: a comma is a point, a unit after it is ignored; nothing where it is none. */
export function typedNumber(text: string): number | null {
  const match = /^\s*([+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?)\s*[^\d]*$/i.exec(text);
  if (!match) return null;
  const value = Number(match[1].replace(",", "."));
  return Number.isFinite(value) ? value : null;
}

export function numberField(options: NumberOptions): NumberField {
  const step = options.step ?? 0.1;
  const digits = options.digits ?? Math.max(0, Math.ceil(-Math.log10(step)));
  const home = options.reset ?? options.value;
  let value = options.value;

  const figure = h("span", { class: "figure" });
  const element = h(
    "span",
    {
      class: "number",
      role: "spinbutton",
      tabindex: 0,
      "aria-label": options.label,
      title: `${options.label}: drag, type, or double click to reset`,
    },
    figure,
    options.unit ? h("span", { class: "unit" }, options.unit) : null,
  );
  const limit = (next: number) => bounded(next, options.minimum, options.maximum, digits);

  function draw(): void {
    figure.textContent = value.toFixed(digits);
    element.setAttribute("aria-valuenow", String(value));
    element.setAttribute("aria-valuetext", `${value.toFixed(digits)} ${options.unit ?? ""}`.trim());
    if (options.minimum !== undefined) element.setAttribute("aria-valuemin", String(options.minimum));
    if (options.maximum !== undefined) element.setAttribute("aria-valuemax", String(options.maximum));
  }

  function put(next: number, final: boolean): void {
    value = limit(next);
    draw();
    options.input?.(value);
    if (final) options.change?.(value);
  }

  /** A field to type into: it begins with the key that opened it, or with the number as it is. */
  function type(begun?: string): void {
    const field = h("input", {
      type: "text",
      inputmode: "decimal",
      "aria-label": options.label,
      value: begun ?? value.toFixed(digits),
    });
    let ended = false;
    const end = (keep: boolean) => {
      if (ended) return;
      ended = true;
      const typed = keep ? typedNumber(field.value) : null;
      field.replaceWith(figure);
      if (typed !== null && limit(typed) !== value) put(typed, true);
      else draw();
    };
    figure.replaceWith(field);
    field.focus();
    if (begun === undefined) field.select();
    else field.setSelectionRange(begun.length, begun.length);
    field.addEventListener("blur", () => end(true));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      end(event.key === "Enter");
      element.focus();
    });
  }

  element.addEventListener("pointerdown", (down) => {
    if (down.button !== 0 || down.target instanceof HTMLInputElement) return;
    const before = value;
    let dragging = false;
    const move = (event: PointerEvent) => {
      const distance = event.clientX - down.clientX;
      if (!dragging && Math.abs(distance) < THRESHOLD) return;
      dragging = true;
      element.classList.add("dragging");
      put(before + Math.round(distance / PIXELS_A_STEP) * step * (event.shiftKey ? 0.1 : 1), false);
    };
    drag(element, down, move, (restore) => {
      element.classList.remove("dragging");
      if (!dragging) element.focus();
      else if (restore) {
        put(before, false);
        options.cancel?.();
      } else if (value !== before) options.change?.(value);
    });
  });
  element.addEventListener("dblclick", () => put(home, true));
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps: Record<string, number> = {
      ArrowUp: 1,
      ArrowRight: 1,
      ArrowDown: -1,
      ArrowLeft: -1,
      PageUp: 10,
      PageDown: -10,
    };
    if (event.key in steps) put(value + steps[event.key] * step * (event.shiftKey ? 10 : 1), true);
    else if (event.key === "Home" && options.minimum !== undefined) put(options.minimum, true);
    else if (event.key === "End" && options.maximum !== undefined) put(options.maximum, true);
    else if (event.key === "Enter") type();
    else if (/^[-\d.,]$/.test(event.key)) type(event.key);
    else if (event.key === "Backspace" || event.key === "Delete") put(home, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  draw();

  return {
    element,
    get value() {
      return value;
    },
    set value(next: number) {
      value = limit(next);
      if (!element.contains(document.activeElement) || document.activeElement === element) draw();
    },
  };
}
