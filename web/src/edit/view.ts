/** What the page alone knows of an edit: the tool in hand, the curve that keys work on, what is drawn and how. */
import type { PointRef } from "../protocol/messages";
import { remember, remembered } from "../shell/settings";

export type Tool = "move" | "turn" | "time" | "sketch";
export type Picks = "joint" | "skin";

export interface Display {
  speed: boolean; // fast is pale, slow is deep
  dots: boolean;
  ticks: boolean; // how the point is turned
  names: boolean;
  ghosts: number; // poses before now, and as many after it
  apart: number; // frames between two ghosts; 0: at the keys
  camera: boolean; // curves as a camera sees them that follows the character
  window: number; // seconds around now that are drawn in full
}

export const USUAL: Display = {
  speed: true,
  dots: true,
  ticks: false,
  names: true,
  ghosts: 0,
  apart: 5,
  camera: false,
  window: 1.5,
};

export interface EditView {
  tool: Tool;
  posing: boolean; // drags pose the whole body at a key, instead of bending curves between keys
  addsKeys: boolean; // a pose may set keys where channels have none
  picks: Picks; // what a click on the character takes: the joint, or the very point of the skin
  active: number | null; // the number of a curve
  hovered: number | null;
  readonly display: Readonly<Display>;
  show(changes: Partial<Display>): void;
  onChange(listener: () => void): void;
}

/** State that tells its listeners after each change of it, once a turn of the page. */
export function createEditView(): EditView {
  const state = {
    tool: "move" as Tool,
    posing: false,
    addsKeys: false,
    picks: remembered<Picks>("edit.picks", "joint"),
    active: null as number | null,
    hovered: null as number | null,
  };
  const display = { ...USUAL };
  for (const name of Object.keys(USUAL) as (keyof Display)[])
    (display[name] as unknown) = remembered<boolean | number>(`edit.${name}`, USUAL[name]);
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };

  const view = {
    display,
    show(changes: Partial<Display>) {
      Object.assign(display, changes);
      for (const [name, value] of Object.entries(changes)) remember(`edit.${name}`, value);
      changed();
    },
    onChange: (listener: () => void) => void listeners.push(listener),
  };
  for (const name of Object.keys(state) as (keyof typeof state)[])
    Object.defineProperty(view, name, {
      get: () => state[name],
      set(next) {
        if (state[name] === next) return;
        (state[name] as unknown) = next;
        if (name === "picks") remember("edit.picks", next);
        changed();
      },
    });
  return view as unknown as EditView;
}

/** A point by its joint. */
export const jointPoint = (joint: string): PointRef => ({ joint, offset: [0, 0, 0], vertex: null });
/** A point of the skin. */
export const skinPoint = (vertex: number): PointRef => ({ joint: "", offset: [0, 0, 0], vertex });

export function samePoint(a: PointRef, b: PointRef): boolean {
  return (
    a.joint === b.joint && a.vertex === b.vertex && a.offset.every((value, c) => Math.abs(value - b.offset[c]) < 1e-9)
  );
}

/** What a point is called in lists and next to its curve. */
export function pointName(point: PointRef): string {
  if (point.vertex !== null) return `vertex ${point.vertex}`;
  return point.offset.some((value) => value !== 0) ? `${point.joint} +` : point.joint;
}
