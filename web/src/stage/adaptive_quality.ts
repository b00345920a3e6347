/**
 * Relief: what is left out while something moves, where pictures come too slowly: pixels (see `pace.ts`), triangles,
 * and pictures themselves (see `breath.ts`). As soon as all rests, one more picture is drawn with all of it.
 */

import { parseSketch } from "./description";
import type { Figure } from "./figure";
import { Breath } from "./frame_throttle";
import type { Ability } from "./renderer";
import { Pace } from "./resolution_scaler";

const REST = 400; // ms without a picture
const TOUCHES = ["pointerdown", "pointermove", "pointerup", "keydown", "wheel"] as const;

/** Calls back when the task that runs now is over. */
function afterTask(callback: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(null);
}

export class Relief {
  readonly pace: Pace;
  private figure: Figure | null = null;
  private fetchSketch: (() => Promise<ArrayBuffer>) | null = null; // until it is needed
  private resting: ReturnType<typeof setTimeout> | undefined;
  private pausing: ReturnType<typeof setTimeout> | undefined;
  private readonly breath = new Breath();

  /** `rest` draws the whole picture; `lightened` compiles what draws fewer triangles. */
  constructor(
    private readonly ability: Ability,
    private readonly rest: () => void,
    private readonly lightened: () => void,
  ) {
    this.pace = new Pace(ability.ratio, ability.software);
    if (ability.software) for (const kind of TOUCHES) addEventListener(kind, this.touch, true);
  }

  private readonly touch = (event: Event): void => {
    if (event.type !== "pointermove" || (event as PointerEvent).buttons) this.breath.touch(event.timeStamp);
  };

  /** Something was asked of the server, or has been answered. */
  awaits(asked: boolean): void {
    this.breath.awaits(asked, performance.now());
  }

  /** A frame has come. */
  came(): void {
    this.breath.came();
  }

  /** Whether it is too early for another picture; asks again when it is not. */
  postponed(ask: () => void): boolean {
    const wait = this.breath.wait(performance.now());
    if (!wait) return false;
    this.pausing ??= setTimeout(() => {
      this.pausing = undefined;
      ask();
    }, wait);
    return true;
  }

  /** Who is on stage, and where fewer triangles of it are to be had. */
  of(figure: Figure | null, sketch: (() => Promise<ArrayBuffer>) | null): void {
    this.figure = figure;
    this.fetchSketch = sketch;
  }

  /** A picture of something that moves was drawn: asked for and begun at these times (ms), shown at `now`. */
  drew(askedAt: number, start: number, now: number): void {
    const { pace, ability } = this;
    clearTimeout(this.pausing);
    this.pausing = undefined;
    const [cost, waited] = [performance.now() - start, start - askedAt];
    // where the processor draws, the browser may wait for the picture when it puts the page together: in this very task
    if (ability.software)
      afterTask(() => {
        const over = performance.now();
        pace.drew(now, cost, Math.max(waited, over - start));
        this.breath.drew(start, over);
      });
    else pace.drew(now, cost, waited);
    clearTimeout(this.resting);
    if (!pace.coarse && !ability.software) return;
    // without a sketch all is drawn as before, only slowly
    if (this.figure && this.fetchSketch) void this.lighten(this.figure, this.fetchSketch).catch(() => undefined);
    this.resting = setTimeout(this.rest, Math.max(REST, 4 * pace.gap));
  }

  /** Fewer triangles while something moves, and then as many pixels as can be. */
  private async lighten(figure: Figure, fetched: () => Promise<ArrayBuffer>): Promise<void> {
    this.fetchSketch = null;
    const draws = parseSketch(await fetched());
    if (figure !== this.figure) return;
    figure.sketch(draws);
    figure.sketched = true;
    this.lightened();
    this.pace.relieved();
  }

  dispose(): void {
    for (const kind of TOUCHES) removeEventListener(kind, this.touch, true);
    clearTimeout(this.pausing);
    clearTimeout(this.resting);
  }
}
