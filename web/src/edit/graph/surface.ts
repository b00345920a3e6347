/** What the pointer works on: the graph or the dope sheet, with what lies where in it. */

import type { Pointing } from "./graph_picture";
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
  readonly upright: boolean; // values are shown upwards, and keys move that way too
  view: View;
  area(): Area;
  hit(x: number, y: number): Hit;
  inBox(box: Box): KeyPlace[];
  /** A part of what the pointer is over changes; draws it. */
  point(pointing: Pointing): void;
  /** The value that a lane shows, as it is stored: for a channel's column. */
  laneOf(channel: number, column: number): { scale: number; offset: number };
  scrollBy(pixels: number): void;
}
