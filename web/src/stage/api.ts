/** The stage: a lit room with characters in it, drawn only when something has changed. */
import type { Object3D, Ray } from "three";

export { createStage } from "./viewport";

/** What lies under the pointer, by the id buffer: exact for every deformation, at the price of one small picture. */
export interface Picked {
  character: string; // the name the description gave
  part: string;
  joint: string; // the joint that moves the vertex most
  vertex: number; // a corner of the triangle, numbered through the character's vertices
  point: [number, number, number]; // in the world, metres
  instance: number; // which one of a crowd; 0 on the stage
}

export interface StageStats {
  fps: number; // pictures drawn in the last second
  ms: number; // the mean time of one of them, on the page's own thread
  drawn: number; // frames of characters drawn since the stage was made
  dropped: number; // frames that a newer one replaced before they were drawn
}

/** Where the camera looks from. */
export interface View {
  target: [number, number, number];
  azimuth: number; // radians, 0 in front of the character
  elevation: number;
  distance: number; // metres
}

export interface Stage {
  readonly canvas: HTMLCanvasElement;
  /** Of the canvas, CSS pixels, as it was laid out last. */
  readonly size: { width: number; height: number };
  /** Builds a character of its description; the last one stays on stage until the new one is complete. */
  show(
    description: ArrayBuffer,
    urlOfTexture: (texture: number) => string,
    sketch?: () => Promise<ArrayBuffer>,
  ): Promise<void>;
  /** Takes the character off the stage. */
  clear(): void;
  /** The newest frame of a stream wins: what was not drawn yet is forgotten. */
  frame(data: ArrayBuffer): void;
  /** Many of one character, moved by frames of form 3; `null` takes them off. */
  crowd(description: ArrayBuffer | null, urlOfTexture: (texture: number) => string): Promise<void>;
  /** The room that the crowd takes has changed: light, ground and camera follow. */
  crowdRoom(low: readonly number[], high: readonly number[]): void;
  /** Whether this browser draws on the processor, and is grateful for less. */
  readonly software: boolean;
  /** Called after the picture that first shows a frame. */
  onSeen(listener: (sequence: number, stream: number) => void): () => void;
  /**
   * Called with a frame that a newer one has replaced before it was drawn, so that the newest is never held back for
   * it.
   */
  onSkipped(listener: (sequence: number, stream: number) => void): () => void;
  /** Called after each picture, with the time at which it was done (ms, as `performance.now`). */
  onDrawn(listener: (now: number) => void): () => void;
  frameAll(): void;
  frameSelection(): void;
  /** Joints or parts that are outlined. */
  select(names: readonly string[]): void;
  /** Something follows the hand: what makes a picture finer waits until it rests. Ask for a picture then. */
  hurried: boolean;
  /** Whether what is selected is outlined; modes that draw over the character leave it out. */
  outlines: boolean;
  /** Position in CSS pixels from the canvas's upper left corner. */
  pick(x: number, y: number): Picked | null;
  /**
   * The ray through a point of the canvas, and where it meets the plane through the character that faces the camera.
   */
  pointerRay(x: number, y: number): { ray: Ray; point: [number, number, number] };
  /** Where a point of the world is on the canvas, CSS pixels. */
  project(point: readonly [number, number, number]): { x: number; y: number; visible: boolean };
  /**
   * The same of many points, three numbers each: x, y, and the depth, which is within -1 and 1 where it can be seen.
   */
  projectAll(points: Float32Array): Float32Array;
  add(object: Object3D): void;
  remove(object: Object3D): void;
  requestRender(): void;
  /**
   * Something was asked of the server, or has been answered: where pictures are slow, the one that shows it comes
   * first.
   */
  awaits(asked: boolean): void;
  /** Draws at once what has come, without waiting for the browser's next frame. */
  drawNow(): void;
  /** Whether drags of the left button that begin on a character are left to others; elsewhere they turn the camera. */
  dragsCharacter: boolean;
  /** Whether a drag of the left button that begins here is left to others, wherever the character is. */
  claims: ((x: number, y: number) => boolean) | null;
  /**
   * The character at other times, seen through, from a frame of form 6; null takes them off. Those before `now` are
   * rose.
   */
  ghosts(data: ArrayBuffer | null, now: number): void;
  /** The height of the ground, metres. */
  readonly floor: number;
  /** The names of the character's joints. */
  readonly joints: readonly string[];
  /** The joint that a joint hangs on; nothing where it is the first. */
  jointAbove(name: string): string;
  /**
   * Where the vertices are drawn, three numbers each, as the graphics card has them: for measuring, not every frame.
   */
  positions(): Float32Array;
  view: View;
  stats(): StageStats;
  dispose(): void;
}
