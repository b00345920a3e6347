/** The labels' hues for WebGL: the same eight as in chips, spans and buttons (`labels.ts`). */
import { Color } from "three";
import { labelColour } from "../labels";

/** The accent colour: the current item, and the particle. */
export const AMBER = "#f2a33a";
export const BACKGROUND = "#16181c";

/** The hue of a label as a CSS colour. */
export const hueOf = labelColour;

/** The hue of a label, linear, for materials. */
export function hueColour(label: string): Color {
  return new Color(hueOf(label));
}
