/** The graph or the dope sheet for pointer input, with its hit tests. */

import type { PointerState } from "./graph_picture";
import type { HandlePlace } from "./handles";
import type { Box, Edge } from "./hits";
import type { KeyPlace } from "./selection";
import type { Area, View } from "./view";

export type Hit =
  | { kind: "ruler" }
  | { kind: "handle"; place: HandlePlace }
  | { kind: "edge"; edge: Edge; box: Box }
  | { kind: "keys"; places: KeyPlace[] }
  | { kind: "curve"; places: KeyPlace[]; channel: number }
  | { kind: "empty" };

export interface Surface {
  readonly element: HTMLElement;
  readonly upright: boolean; // values grow upwards, and keys can be dragged that way
  view: View;
  area(): Area;
  hit(x: number, y: number): Hit;
  keysInBox(box: Box): KeyPlace[];
  /** Sets what the pointer hovers or drags, and draws it. */
  setPointer(pointerState: PointerState): void;
  /** The scale and offset of a channel's column, from stored to shown values. */
  laneOf(channel: number, column: number): { scale: number; offset: number };
  scrollBy(pixels: number): void;
}
