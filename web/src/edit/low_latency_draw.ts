/**
 * Draws with low latency during drags: each frame is drawn as soon as its answer is complete, without waiting for the
 * next animation frame. No frame begins while the graphics card still works on the one before, as queued frames would
 * add latency; only the newest answer is drawn then.
 */
import type { Stage } from "../stage/api";

const POLL_INTERVAL_MS = 1; // of the fence

export interface LowLatencyDraw {
  /** Draws the newest answer, now or after the current frame. */
  requestDraw(): void;
  /** Called when a frame is finished, with the time of its submission and the current time. */
  onDone(listener: (drawn: number, now: number) => void): void;
}

export function createLowLatencyDraw(stage: Stage): LowLatencyDraw {
  const gl = stage.canvas.getContext("webgl2");
  const listeners: ((drawn: number, now: number) => void)[] = [];
  let fence: WebGLSync | null = null; // signalled when the frame is finished
  let drawn = 0;
  let isWaiting = false;

  function pollFence(): void {
    if (!gl || !fence) return;
    const status = gl.clientWaitSync(fence, 0, 0);
    if (status === gl.TIMEOUT_EXPIRED) return void setTimeout(pollFence, POLL_INTERVAL_MS);
    gl.deleteSync(fence);
    fence = null;
    const now = performance.now();
    for (const listener of listeners) listener(drawn, now);
    if (!isWaiting) return;
    isWaiting = false;
    stage.drawNow();
  }

  stage.onDrawn((now) => {
    if (!gl || !stage.isInteracting) return;
    if (fence) gl.deleteSync(fence);
    const isFirst = fence === null;
    fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    drawn = now;
    if (isFirst) setTimeout(pollFence, POLL_INTERVAL_MS);
  });

  return {
    requestDraw() {
      if (fence) isWaiting = true;
      else stage.drawNow();
    },
    onDone: (listener) => void listeners.push(listener),
  };
}
