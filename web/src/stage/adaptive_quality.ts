/**
 * Adaptive quality: while something moves and rendering is too slow, fewer pixels (`resolution_scaler.ts`), fewer
 * triangles (`lod_mesh.ts`) and fewer frames (`frame_throttle.ts`) are drawn. When the motion ends, one more frame is
 * drawn at full quality.
 */

import { parseLod } from "./description";
import type { Figure } from "./figure";
import { FrameThrottle } from "./frame_throttle";
import type { RendererLimits } from "./renderer";
import { ResolutionScaler } from "./resolution_scaler";

const REST_MS = 400; // without a rendered frame, after which the motion has ended
const INPUT_EVENTS = ["pointerdown", "pointermove", "pointerup", "keydown", "wheel"] as const;

/** Calls back after the current task. */
function afterTask(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(null);
}

export class AdaptiveQuality {
  readonly resolution: ResolutionScaler;
  private figure: Figure | null = null;
  private fetchLod: (() => Promise<ArrayBuffer>) | null = null; // null once it was called
  private restTimer: ReturnType<typeof setTimeout> | undefined;
  private pauseTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly throttle = new FrameThrottle();

  /** `rest` draws a frame at full quality; `compileLod` compiles the materials of the level of detail. */
  constructor(
    private readonly limits: RendererLimits,
    private readonly rest: () => void,
    private readonly compileLod: () => void,
  ) {
    this.resolution = new ResolutionScaler(limits.ratio, limits.software);
    if (limits.software) for (const kind of INPUT_EVENTS) addEventListener(kind, this.recordInput, true);
  }

  private readonly recordInput = (event: Event): void => {
    if (event.type !== "pointermove" || (event as PointerEvent).buttons) this.throttle.recordInput(event.timeStamp);
  };

  /** Says whether requests to the server are unanswered. */
  setAwaitingAnswer(isWaiting: boolean): void {
    this.throttle.setAwaitingAnswer(isWaiting, performance.now());
  }

  /** A frame arrived from the server. */
  recordArrival(): void {
    this.throttle.recordArrival();
  }

  /** Whether it is too early to draw another frame; if so, `ask` is called as soon as it is not. */
  postpone(ask: () => void): boolean {
    const wait = this.throttle.delay(performance.now());
    if (!wait) return false;
    this.pauseTimer ??= setTimeout(() => {
      this.pauseTimer = undefined;
      ask();
    }, wait);
    return true;
  }

  /** Sets the character on stage, and the function that fetches its level of detail, if it has one. */
  setFigure(figure: Figure | null, fetchLod: (() => Promise<ArrayBuffer>) | null): void {
    this.figure = figure;
    this.fetchLod = fetchLod;
  }

  /** Records a rendered frame of a motion: requested and begun at these times, shown at `now` (ms). */
  recordFrame(requestedAt: number, start: number, now: number): void {
    const { resolution, limits } = this;
    clearTimeout(this.pauseTimer);
    this.pauseTimer = undefined;
    const [cost, waited] = [performance.now() - start, start - requestedAt];
    // With software rendering the browser may wait for the frame while it composites the page, within this task.
    if (limits.software)
      afterTask(() => {
        const over = performance.now();
        resolution.recordFrame(now, cost, Math.max(waited, over - start));
        this.throttle.recordFrame(start, over);
      });
    else resolution.recordFrame(now, cost, waited);
    clearTimeout(this.restTimer);
    if (!resolution.isCoarse && !limits.software) return;
    // Without a level of detail the full mesh is drawn, only slowly.
    if (this.figure && this.fetchLod) void this.loadLod(this.figure, this.fetchLod).catch(() => undefined);
    this.restTimer = setTimeout(this.rest, Math.max(REST_MS, 4 * resolution.meanGap));
  }

  /** Loads a mesh with fewer triangles for motion, and then returns to the full resolution. */
  private async loadLod(figure: Figure, fetchLod: () => Promise<ArrayBuffer>): Promise<void> {
    this.fetchLod = null;
    const draws = parseLod(await fetchLod());
    if (figure !== this.figure) return;
    figure.setLod(draws);
    figure.usesLod = true;
    this.compileLod();
    this.resolution.reset();
  }

  dispose(): void {
    for (const kind of INPUT_EVENTS) removeEventListener(kind, this.recordInput, true);
    clearTimeout(this.pauseTimer);
    clearTimeout(this.restTimer);
  }
}
