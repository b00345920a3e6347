/** The pointer over the stage: which square it is at, a click on it, and where in the world the character sees it. */
import type { Context } from "../context";
import { between } from "../perform/gaze_pointer";
import type { GameTable } from "../protocol/messages";
import { hit } from "./board_view";

const EVERY = 50; // ms between two messages

export interface Pointing {
  awake: boolean;
}

export interface Pointed {
  table(): GameTable | null;
  over(square: number | null): void;
  click(square: number): void;
}

export function createPointing({ stage, connection }: Context, game: Pointed): Pointing {
  const canvas = stage.canvas;
  let awake = false;
  let last = 0;
  let timer = 0;
  let place: [number, number, number] | null = null;

  function send(): void {
    timer = 0;
    last = performance.now();
    if (awake) connection.tell({ kind: "pointAt", place: place ?? eye() });
  }

  /** Where the player is: whom it looks at while there is no pointer. */
  function eye(): [number, number, number] {
    const { x, y, z } = stage.pointerRay(0, 0).ray.origin;
    return [x, y, z];
  }

  function at(event: MouseEvent): ReturnType<typeof hit> {
    const table = game.table();
    if (!table) return null;
    const box = canvas.getBoundingClientRect();
    const { ray, point } = stage.pointerRay(event.clientX - box.left, event.clientY - box.top);
    const found = hit(ray, table);
    place = found ? found.point : between([ray.origin.x, ray.origin.y, ray.origin.z], point);
    return found;
  }

  canvas.addEventListener("pointermove", (event) => {
    if (!awake || event.buttons) return;
    game.over(at(event)?.square ?? null);
    if (!timer) timer = window.setTimeout(send, Math.max(0, EVERY - (performance.now() - last)));
  });
  canvas.addEventListener("pointerleave", () => {
    if (!awake) return;
    place = null;
    game.over(null);
    send();
  });
  canvas.addEventListener("click", (event) => {
    if (!awake || event.button !== 0) return;
    const square = at(event)?.square ?? null;
    if (square !== null) game.click(square);
  });

  return {
    get awake() {
      return awake;
    },
    set awake(next: boolean) {
      awake = next;
      place = null;
      if (awake) send();
      else canvas.style.cursor = "";
    },
  };
}
