/** A label as a chip: its hue as a dot and its name as text, so colour is never the only cue. */
import { h } from "../dom";
import { labelColour } from "../labels";

export function labelChip(label: string, press?: () => void, pressed = false): HTMLElement {
  const style = `--hue: ${labelColour(label)}`;
  if (!press) return h("span", { class: "chip", style }, label);
  return h("button", { class: "chip", type: "button", style, "aria-pressed": String(pressed), onclick: press }, label);
}
