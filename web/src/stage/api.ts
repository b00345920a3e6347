/** The stage: lit characters on a ground, drawn only when something has changed. */
import type { Object3D, Ray } from "three";

export { createStage } from "./viewport";

/**
 * What lies under the pointer, read from an id buffer: exact for every deformation, at the cost of drawing one pixel.
 */
export interface Picked {
  character: string; // the name from the description
  part: string;
  joint: string; // the joint with the largest weight at the vertex
  vertex: number; // a corner of the picked triangle, as an index of the character's vertices
  point: [number, number, number]; // in world space, metres
  instance: number; // the index in a crowd; 0 on the stage
}

export interface StageStats {
  fps: number; // rendered frames in the last second
  ms: number; // the mean time of one of them on the main thread
  drawn: number; // character frames drawn since the stage was created
  dropped: number; // frames that a newer one replaced before they were drawn
}

/** The view of the camera. */
export interface View {
  target: [number, number, number];
  azimuth: number; // radians, 0 in front of the character
  elevation: number;
  distance: number; // metres
}

export interface Stage {
  readonly canvas: HTMLCanvasElement;
  /** The size of the canvas at its last layout, CSS pixels. */
  readonly size: { width: number; height: number };
  /**
   * Builds a character from its description; the previous one stays on stage until the new one is complete.
   * `textureSource` gives the address or the content of an image.
   */
  show(
    description: ArrayBuffer,
    textureSource: (texture: number) => string | Blob,
    fetchLod?: () => Promise<ArrayBuffer>,
  ): Promise<void>;
  /** Removes the character from the stage. */
  clear(): void;
  /** Takes a binary frame. The newest frame of a stream wins; older ones that were not drawn are dropped. */
  frame(data: ArrayBuffer): void;
  /** Shows many instances of one character, moved by frames of form 3; `null` removes them. */
  crowd(description: ArrayBuffer | null, urlOfTexture: (texture: number) => string): Promise<void>;
  /** Sets the bounding box of the crowd; light, ground and camera follow. */
  setCrowdBounds(low: readonly number[], high: readonly number[]): void;
  /** Whether this browser renders in software, so that less should be drawn. */
  readonly software: boolean;
  /** Called after the rendered frame that first shows a frame of the server. */
  onSeen(listener: (sequence: number, stream: number) => void): () => void;
  /** Called for a frame that a newer one replaced before it was drawn, so that the server does not wait for it. */
  onSkipped(listener: (sequence: number, stream: number) => void): () => void;
  /** Called after each rendered frame, with the time at which it was done (ms, as `performance.now`). */
  onDrawn(listener: (now: number) => void): () => void;
  frameAll(): void;
  frameSelection(): void;
  /** Outlines these joints or parts. */
  select(names: readonly string[]): void;
  /**
   * Whether the user drags something: quality is lower until it is false again. Request a render after setting it to
   * false.
   */
  isInteracting: boolean;
  /** Whether the selection is outlined; modes that draw over the character turn it off. */
  outlines: boolean;
  /** What lies at a position in CSS pixels from the canvas's upper left corner. */
  pick(x: number, y: number): Picked | null;
  /**
   * The ray through a point of the canvas, and its intersection with the plane through the character that faces the
   * camera.
   */
  pointerRay(x: number, y: number): { ray: Ray; point: [number, number, number] };
  /** The position of a world point on the canvas, CSS pixels. */
  project(point: readonly [number, number, number]): { x: number; y: number; visible: boolean };
  /**
   * The same for many points, three numbers each: x, y and depth. Depth is within -1 and 1 where the point is visible.
   */
  projectAll(points: Float32Array): Float32Array;
  add(object: Object3D): void;
  remove(object: Object3D): void;
  requestRender(): void;
  /**
   * Says whether requests to the server are unanswered: when rendering is slow, the frame with the answer is drawn
   * first.
   */
  setAwaitingAnswer(isWaiting: boolean): void;
  /** Draws the newest frames at once, without waiting for the browser's next animation frame. */
  drawNow(): void;
  /** Whether left button drags that begin on a character are handled elsewhere; other left drags turn the camera. */
  dragsCharacter: boolean;
  /** Whether a left button drag that begins at (x, y) is handled elsewhere, also away from the character. */
  claimsDrag: ((x: number, y: number) => boolean) | null;
  /**
   * Onion skin: shows the character at other times from a frame of form 6, rose before `now` and teal after it; null
   * hides it.
   */
  ghosts(data: ArrayBuffer | null, now: number): void;
  /** The height of the ground, metres. */
  readonly floor: number;
  /** The names of the character's joints. */
  readonly joints: readonly string[];
  /** The parent of a joint; empty for the root. */
  parentJoint(name: string): string;
  /** The positions of the drawn vertices, three numbers each, read back from the graphics card: slow, for measuring. */
  positions(): Float32Array;
  view: View;
  stats(): StageStats;
  dispose(): void;
}
