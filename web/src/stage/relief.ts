/**
 * Relief: what is left out while something moves, where pictures come too slowly: pixels (see `pace.ts`) and triangles.
 * As soon as all rests, one more picture is drawn with all of it.
 */
import { parseSketch } from "./description";
import type { Figure } from "./figure";
import { Pace } from "./pace";
import type { Ability } from "./renderer";

const REST = 400; // ms without a picture

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

  /** `rest` draws the whole picture; `lightened` hears that there are fewer triangles now. */
  constructor(
    private readonly ability: Ability,
    private readonly rest: () => void,
    private readonly lightened: (figure: Figure) => void,
  ) {
    this.pace = new Pace(ability.ratio, ability.software);
  }

  /** Who is on stage, and where fewer triangles of it are to be had. */
  of(figure: Figure | null, sketch: (() => Promise<ArrayBuffer>) | null): void {
    this.figure = figure;
    this.fetchSketch = sketch;
  }

  /** A picture of something that moves was drawn: asked for and begun at these times (ms), shown at `now`. */
  drew(askedAt: number, start: number, now: number): void {
    const { pace, ability } = this;
    const [cost, waited] = [performance.now() - start, start - askedAt];
    // where the processor draws, the browser may wait for the picture when it puts the page together: in this very task
    if (ability.software) afterTask(() => pace.drew(now, cost, Math.max(waited, performance.now() - start)));
    else pace.drew(now, cost, waited);
    clearTimeout(this.resting);
    if (!pace.coarse && !ability.software) return;
    if (this.figure && this.fetchSketch) void this.lighten(this.figure, this.fetchSketch).catch(() => undefined); // without a sketch all is drawn as before, only slowly
    this.resting = setTimeout(this.rest, Math.max(REST, 4 * pace.gap));
  }

  /** Fewer triangles while something moves, and then as many pixels as can be. */
  private async lighten(figure: Figure, fetched: () => Promise<ArrayBuffer>): Promise<void> {
    this.fetchSketch = null;
    const draws = parseSketch(await fetched());
    if (figure !== this.figure) return;
    figure.sketch(draws);
    this.lightened(figure);
    this.pace.relieved();
  }

  dispose(): void {
    clearTimeout(this.resting);
  }
}
