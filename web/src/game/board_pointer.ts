/**
 * Pointer input over the board: the square under it, clicks, and the point in the world that the character looks at.
 */
import type { Context } from "../context";
import { gazeTarget } from "../perform/gaze_pointer";
import type { GameTable } from "../protocol/messages";
import { hitBoard } from "./board_view";

const SEND_INTERVAL_MS = 50;

export interface BoardPointer {
  awake: boolean;
}

export interface PointerTarget {
  table(): GameTable | null;
  hover(square: number | null): void;
  click(square: number): void;
}

export function createBoardPointer({ stage, connection }: Context, game: PointerTarget): BoardPointer {
  const canvas = stage.canvas;
  let awake = false;
  let last = 0;
  let timer = 0;
  let place: [number, number, number] | null = null;

  function send(): void {
    timer = 0;
    last = performance.now();
    if (awake) connection.send({ kind: "pointAt", place: place ?? playerPosition() });
  }

  /** The position of the player, which the character looks at without a pointer. */
  function playerPosition(): [number, number, number] {
    const { x, y, z } = stage.pointerRay(0, 0).ray.origin;
    return [x, y, z];
  }

  function hitAt(event: MouseEvent): ReturnType<typeof hitBoard> {
    const table = game.table();
    if (!table) return null;
    const box = canvas.getBoundingClientRect();
    const { ray, point } = stage.pointerRay(event.clientX - box.left, event.clientY - box.top);
    const boardHit = hitBoard(ray, table);
    place = boardHit ? boardHit.point : gazeTarget([ray.origin.x, ray.origin.y, ray.origin.z], point);
    return boardHit;
  }

  canvas.addEventListener("pointermove", (event) => {
    if (!awake || event.buttons) return;
    game.hover(hitAt(event)?.square ?? null);
    if (!timer) timer = window.setTimeout(send, Math.max(0, SEND_INTERVAL_MS - (performance.now() - last)));
  });
  canvas.addEventListener("pointerleave", () => {
    if (!awake) return;
    place = null;
    game.hover(null);
    send();
  });
  canvas.addEventListener("click", (event) => {
    if (!awake || event.button !== 0) return;
    const square = hitAt(event)?.square ?? null;
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
