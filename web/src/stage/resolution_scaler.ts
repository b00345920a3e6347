/**
 * Pace: how fast pictures are drawn, and how large they may be for that.
 *
 * Where the graphics card cannot draw the whole picture in time (a browser without one draws on the processor), the
 * picture gets coarser while things move, at once by as much as its pixels cost too much, and whole again as soon as
 * they rest.
 */

const STEPS = [1, 0.8, 0.65, 0.5];
// ms between pictures, above which the picture gets coarser: a click waits for two of them, and should be answered
// within 100
const SLOW = 24;
const FAST = 14; // ms, below which it may get finer
const PATIENCE = 8; // pictures before it gets coarser: one slow picture says nothing
const CAUTION = 200; // pictures before it gets finer
const REST = 2000; // ms without a picture after which all has come to rest

export class Pace {
  private readonly times: number[] = [];
  private readonly costs: number[] = [];
  private step = 0;
  private since = 0;
  private mean = 0;
  private last = -Infinity;

  constructor(
    private readonly ratio: number,
    private readonly adapts = true,
  ) {}

  /**
   * The pixels of the picture for each pixel of the page, for a picture that begins now. Where something follows the
   * hand and the processor draws, the coarsest at once: a hand feels what an eye hardly sees.
   */
  ratioAt(resting: boolean, hurried = false): number {
    const step = hurried && this.adapts ? STEPS.length - 1 : this.step;
    return this.ratio * (resting ? 1 : STEPS[step]);
  }

  /** Whether pictures are coarser than they could be. */
  get coarse(): boolean {
    return this.step > 0;
  }

  /** The mean time between two pictures of a motion, ms. */
  get gap(): number {
    return this.mean;
  }

  /**
   * A picture was drawn at `now` (ms), which took `cost` ms of this thread; it had been asked for `waited` ms before.
   * Where nothing asks, time may pass: only what a picture keeps waiting counts as slow.
   */
  drew(now: number, cost: number, waited = Infinity): void {
    const gap = Math.min(now - this.last, waited);
    this.last = now;
    this.times.push(now);
    this.costs.push(cost);
    while (this.times[0] < now - 1000) {
      this.times.shift();
      this.costs.shift();
    }
    if (gap > REST) {
      this.mean = 0;
      this.since = 0;
      return;
    }
    this.mean = this.mean ? this.mean + 0.1 * (gap - this.mean) : gap;
    this.since += 1;
    if (!this.adapts || this.since < PATIENCE) return;
    if (this.mean > SLOW && this.step < STEPS.length - 1) this.change(this.coarser());
    else if (this.mean < FAST && this.step > 0 && this.since > CAUTION) this.change(this.step - 1);
  }

  /** The first step at which the pixels are few enough, were they all that costs; at least the next. */
  private coarser(): number {
    const enough = STEPS.findIndex(
      (step, number) => number > this.step && (step / STEPS[this.step]) ** 2 * this.mean <= SLOW,
    );
    return enough < 0 ? STEPS.length - 1 : enough;
  }

  /** Something else was left out instead: pictures may be whole again, until they are seen to be too slow. */
  relieved(): void {
    this.change(0);
  }

  private change(step: number): void {
    this.step = step;
    this.since = 0;
    this.mean = 0;
  }

  /** Pictures in the last second, and the mean cost of one. */
  stats(now: number): { fps: number; ms: number } {
    const recent = this.times.filter((time) => time > now - 1000);
    const costs = this.costs.slice(this.costs.length - recent.length);
    return { fps: recent.length, ms: costs.length ? costs.reduce((a, b) => a + b, 0) / costs.length : 0 };
  }
}
