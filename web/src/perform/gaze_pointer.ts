/** The character looks at the pointer: where it is over the stage, 30 times a second at most. */
import type { Context } from "../context";

const EVERY = 33; // ms between two looks
/** Of the way from the camera to the character: near enough to be looked at, far enough not to squint. */
export const AHEAD = 0.62;

export type Point = [number, number, number];

/** The place between an eye and a point that is looked at, `share` of the way from the eye. */
export function between(eye: Point, point: Point, share: number = AHEAD): Point {
  return eye.map((value, k) => value + share * (point[k] - value)) as Point;
}

/** Follows the pointer while it is awake; `active` says whether somebody is there who looks. */
export function createGazePointer({ stage, connection }: Context, active: () => boolean): { awake: boolean } {
  const canvas = stage.canvas;
  let awake = false;
  let timer = 0;
  let last = 0;
  let at: { x: number; y: number } | null = null;

  function send(): void {
    timer = 0;
    last = performance.now();
    if (!awake || !active()) return;
    if (!at) {
      connection.tell({ kind: "look", point: null });
      return;
    }
    const { ray, point } = stage.pointerRay(at.x, at.y);
    connection.tell({ kind: "look", point: between([ray.origin.x, ray.origin.y, ray.origin.z], point) });
  }

  function soon(): void {
    if (!timer) timer = window.setTimeout(send, Math.max(0, EVERY - (performance.now() - last)));
  }

  canvas.addEventListener("pointermove", (event) => {
    if (!awake || event.buttons) return; // a drag turns the view: the character does not follow that
    const box = canvas.getBoundingClientRect();
    at = { x: event.clientX - box.left, y: event.clientY - box.top };
    soon();
  });
  canvas.addEventListener("pointerleave", () => {
    if (!awake) return;
    at = null;
    soon();
  });

  return {
    get awake() {
      return awake;
    },
    set awake(next: boolean) {
      if (awake && !next) {
        at = null;
        send();
      }
      awake = next;
    },
  };
}
