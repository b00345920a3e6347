/**
 * Pictures that follow a hand: each is drawn as soon as its answer is complete, without waiting for the browser's next
 * frame, and none is begun while the one before is still being drawn: calls of WebGL return long before that, and what
 * a hand does would be seen several pictures late. By then only the newest counts.
 */
import type { Stage } from "../stage/api";

const LOOK = 1; // ms between two looks at a picture that is being drawn

export interface Following {
  /** What belongs to one answer is here. */
  ready(): void;
  /** Hears of pictures that are done: when they were handed to the graphics card, and now. */
  onDone(listener: (drawn: number, now: number) => void): void;
}

export function createFollowing(stage: Stage): Following {
  const gl = stage.canvas.getContext("webgl2");
  const listeners: ((drawn: number, now: number) => void)[] = [];
  let mark: WebGLSync | null = null; // comes by when the picture is done
  let drawn = 0;
  let waits = false;

  function watch(): void {
    if (!gl || !mark) return;
    const found = gl.clientWaitSync(mark, 0, 0);
    if (found === gl.TIMEOUT_EXPIRED) return void setTimeout(watch, LOOK);
    gl.deleteSync(mark);
    mark = null;
    const now = performance.now();
    for (const listener of listeners) listener(drawn, now);
    if (!waits) return;
    waits = false;
    stage.drawNow();
  }

  stage.onDrawn((now) => {
    if (!gl || !stage.hurried) return;
    if (mark) gl.deleteSync(mark);
    const fresh = mark === null;
    mark = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    drawn = now;
    if (fresh) setTimeout(watch, LOOK);
  });

  return {
    ready() {
      if (mark) waits = true;
      else stage.drawNow();
    },
    onDone: (listener) => void listeners.push(listener),
  };
}
