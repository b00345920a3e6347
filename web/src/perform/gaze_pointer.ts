/** Sends the position of the pointer over the stage as the gaze target, at most 30 times a second. */
import type { Context } from "../context";

const SEND_INTERVAL_MS = 33;
/** Share of the distance from the camera to the character: close enough to look at, far enough not to squint. */
export const GAZE_SHARE = 0.62;

export type Point = [number, number, number];

/** The gaze target between the camera and a point, after `share` of the distance. */
export function gazeTarget(eye: Point, point: Point, share: number = GAZE_SHARE): Point {
  return eye.map((value, k) => value + share * (point[k] - value)) as Point;
}

/** Follows the pointer while it is awake and `active` returns true. */
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
      connection.send({ kind: "look", point: null });
      return;
    }
    const { ray, point } = stage.pointerRay(at.x, at.y);
    connection.send({ kind: "look", point: gazeTarget([ray.origin.x, ray.origin.y, ray.origin.z], point) });
  }

  function scheduleSend(): void {
    if (!timer) timer = window.setTimeout(send, Math.max(0, SEND_INTERVAL_MS - (performance.now() - last)));
  }

  canvas.addEventListener("pointermove", (event) => {
    if (!awake || event.buttons) return; // drags turn the view, and do not change the gaze
    const box = canvas.getBoundingClientRect();
    at = { x: event.clientX - box.left, y: event.clientY - box.top };
    scheduleSend();
  });
  canvas.addEventListener("pointerleave", () => {
    if (!awake) return;
    at = null;
    scheduleSend();
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
