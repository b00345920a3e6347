/** A number field: drag, type, step by keys, reset by a double click. */
import { h } from "../dom";
import { drag } from "./pointer_drag";

export interface NumberOptions {
  label: string; // accessible name
  value: number;
  reset?: number; // for a double click; the first value by default
  minimum?: number;
  maximum?: number;
  step?: number; // of one key press, and of 4 px of a drag
  digits?: number;
  unit?: string;
  input?(value: number): void; // while it changes
  change?(value: number): void; // when a drag or an entry ends: one undo step
  cancel?(): void; // when Esc has reverted a drag
}

export interface NumberField {
  element: HTMLElement;
  value: number; // setting it calls no listener
}

const DRAG_THRESHOLD_PX = 3; // before a press counts as a drag
const PIXELS_PER_STEP = 4;

/** Clamps a value to its bounds and rounds it to its digits. */
export function clampToDigits(value: number, minimum = -Infinity, maximum = Infinity, digits = 6): number {
  const scale = 10 ** digits;
  return Math.min(maximum, Math.max(minimum, Math.round(value * scale) / scale));
}

/** Parses typed text: a comma is a decimal point, a unit after the number is ignored; null if it is not a number. */
export function parseTyped(text: string): number | null {
  const match = /^\s*([+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?)\s*[^\d]*$/i.exec(text);
  if (!match) return null;
  const value = Number(match[1].replace(",", "."));
  return Number.isFinite(value) ? value : null;
}

export function numberField(options: NumberOptions): NumberField {
  const step = options.step ?? 0.1;
  const digits = options.digits ?? Math.max(0, Math.ceil(-Math.log10(step)));
  const resetValue = options.reset ?? options.value;
  let value = options.value;

  const readout = h("span", { class: "figure" });
  const element = h(
    "span",
    {
      class: "number",
      role: "spinbutton",
      tabindex: 0,
      "aria-label": options.label,
      title: `${options.label}: drag, type, or double click to reset`,
    },
    readout,
    options.unit ? h("span", { class: "unit" }, options.unit) : null,
  );
  const limit = (next: number) => clampToDigits(next, options.minimum, options.maximum, digits);

  function draw(): void {
    readout.textContent = value.toFixed(digits);
    element.setAttribute("aria-valuenow", String(value));
    element.setAttribute("aria-valuetext", `${value.toFixed(digits)} ${options.unit ?? ""}`.trim());
    if (options.minimum !== undefined) element.setAttribute("aria-valuemin", String(options.minimum));
    if (options.maximum !== undefined) element.setAttribute("aria-valuemax", String(options.maximum));
  }

  function setValue(next: number, final: boolean): void {
    value = limit(next);
    draw();
    options.input?.(value);
    if (final) options.change?.(value);
  }

  /** Opens a text field with the key that opened it, or with the current number. */
  function openTextField(initial?: string): void {
    const field = h("input", {
      type: "text",
      inputmode: "decimal",
      "aria-label": options.label,
      value: initial ?? value.toFixed(digits),
    });
    let ended = false;
    const end = (keep: boolean) => {
      if (ended) return;
      ended = true;
      const typed = keep ? parseTyped(field.value) : null;
      field.replaceWith(readout);
      if (typed !== null && limit(typed) !== value) setValue(typed, true);
      else draw();
    };
    readout.replaceWith(field);
    field.focus();
    if (initial === undefined) field.select();
    else field.setSelectionRange(initial.length, initial.length);
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
      if (!dragging && Math.abs(distance) < DRAG_THRESHOLD_PX) return;
      dragging = true;
      element.classList.add("dragging");
      setValue(before + Math.round(distance / PIXELS_PER_STEP) * step * (event.shiftKey ? 0.1 : 1), false);
    };
    drag(element, down, move, (restore) => {
      element.classList.remove("dragging");
      if (!dragging) element.focus();
      else if (restore) {
        setValue(before, false);
        options.cancel?.();
      } else if (value !== before) options.change?.(value);
    });
  });
  element.addEventListener("dblclick", () => setValue(resetValue, true));
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
    if (event.key in steps) setValue(value + steps[event.key] * step * (event.shiftKey ? 10 : 1), true);
    else if (event.key === "Home" && options.minimum !== undefined) setValue(options.minimum, true);
    else if (event.key === "End" && options.maximum !== undefined) setValue(options.maximum, true);
    else if (event.key === "Enter") openTextField();
    else if (/^[-\d.,]$/.test(event.key)) openTextField(event.key);
    else if (event.key === "Backspace" || event.key === "Delete") setValue(resetValue, true);
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
