/** The page's own state of an edit: the tool, the active curve, and what is drawn. */
import type { PointRef } from "../protocol/messages";
import { storedSetting, storeSetting } from "../shell/settings";

export type Tool = "move" | "turn" | "time" | "sketch";
export type Picks = "joint" | "skin";

export interface Display {
  speed: boolean; // pale when fast, deep when slow
  dots: boolean;
  ticks: boolean; // orientation of the point
  names: boolean;
  ghosts: number; // number of poses before and after the current time
  apart: number; // frames between two ghosts; 0 puts them at the keys
  camera: boolean; // curves relative to the character, as seen by a camera that follows it
  window: number; // seconds around the current time with full opacity
}

/** A span of time that an edit changes, from `start` to `stop`, fading within `radius` before and after; seconds. */
export interface Reach {
  start: number;
  stop: number;
  radius: number;
}

export const DEFAULT_DISPLAY: Display = {
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
  addsKeys: boolean; // posing may add keys to channels without one
  picks: Picks; // what a click on the character selects: the joint, or the point of the skin
  falloff: number | null; // seconds, the radius of the window of drags and strokes; null: from the spacing of keys
  reach: Reach | null; // of the current or last drag or stroke; null where only tangents change
  active: number | null; // number of a curve
  hovered: number | null;
  readonly display: Readonly<Display>;
  show(changes: Partial<Display>): void;
  onChange(listener: () => void): void;
}

/** Observable state: listeners are called after each change. */
export function createEditView(): EditView {
  const state = {
    tool: "move" as Tool,
    posing: false,
    addsKeys: false,
    picks: storedSetting<Picks>("edit.picks", "joint"),
    falloff: null as number | null,
    reach: null as Reach | null,
    active: null as number | null,
    hovered: null as number | null,
  };
  const display = { ...DEFAULT_DISPLAY };
  for (const name of Object.keys(DEFAULT_DISPLAY) as (keyof Display)[])
    (display[name] as unknown) = storedSetting<boolean | number>(`edit.${name}`, DEFAULT_DISPLAY[name]);
  const listeners: (() => void)[] = [];
  const emitChange = (): void => {
    for (const listener of listeners) listener();
  };

  const view = {
    display,
    show(changes: Partial<Display>) {
      Object.assign(display, changes);
      for (const [name, value] of Object.entries(changes)) storeSetting(`edit.${name}`, value);
      emitChange();
    },
    onChange: (listener: () => void) => void listeners.push(listener),
  };
  for (const name of Object.keys(state) as (keyof typeof state)[])
    Object.defineProperty(view, name, {
      get: () => state[name],
      set(next) {
        if (state[name] === next) return;
        (state[name] as unknown) = next;
        if (name === "picks") storeSetting("edit.picks", next);
        emitChange();
      },
    });
  return view as unknown as EditView;
}

/** A point at a joint. */
export const jointPoint = (joint: string): PointRef => ({ joint, offset: [0, 0, 0], vertex: null });
/** A point of the skin. */
export const skinPoint = (vertex: number): PointRef => ({ joint: "", offset: [0, 0, 0], vertex });

export function samePoint(a: PointRef, b: PointRef): boolean {
  return (
    a.joint === b.joint && a.vertex === b.vertex && a.offset.every((value, c) => Math.abs(value - b.offset[c]) < 1e-9)
  );
}

/** The name of a point in lists and next to its curve. */
export function pointName(point: PointRef): string {
  if (point.vertex !== null) return `vertex ${point.vertex}`;
  return point.offset.some((value) => value !== 0) ? `${point.joint} +` : point.joint;
}
