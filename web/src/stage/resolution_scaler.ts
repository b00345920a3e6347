/**
 * Scales the resolution by the measured rendering time.
 *
 * If the machine cannot render the full resolution in time, the resolution decreases while things move, at once by as
 * much as needed, and is full again when they rest.
 */

const SCALES = [1, 0.8, 0.65, 0.5];
// Between rendered frames, above which the resolution decreases: a click waits for two frames, and should be answered
// within 100 ms.
const SLOW_MS = 24;
const FAST_MS = 14; // between rendered frames, below which the resolution may increase
const FRAMES_BEFORE_COARSER = 8; // one slow frame says little
const FRAMES_BEFORE_FINER = 200;
const REST_MS = 2000; // without a rendered frame, after which the statistics restart

export class ResolutionScaler {
  private readonly times: number[] = [];
  private readonly costs: number[] = [];
  private step = 0;
  private framesSinceChange = 0;
  private mean = 0;
  private last = -Infinity;

  constructor(
    private readonly ratio: number,
    private readonly adapts = true,
  ) {}

  /**
   * The image pixels for each CSS pixel of the frame that begins now. While the user drags something and rendering is
   * in software it is the lowest one at once: latency matters more than detail.
   */
  pixelRatio(resting: boolean, isInteracting = false): number {
    const step = isInteracting && this.adapts ? SCALES.length - 1 : this.step;
    return this.ratio * (resting ? 1 : SCALES[step]);
  }

  /** Whether the resolution is reduced. */
  get isCoarse(): boolean {
    return this.step > 0;
  }

  /** The mean time between two rendered frames of a motion (ms). */
  get meanGap(): number {
    return this.mean;
  }

  /**
   * Records a frame drawn at `now`, which took `cost` on this thread and was requested `waited` before (ms). Time
   * without a request does not count as slow.
   */
  recordFrame(now: number, cost: number, waited = Infinity): void {
    const gap = Math.min(now - this.last, waited);
    this.last = now;
    this.times.push(now);
    this.costs.push(cost);
    while (this.times[0] < now - 1000) {
      this.times.shift();
      this.costs.shift();
    }
    if (gap > REST_MS) {
      this.mean = 0;
      this.framesSinceChange = 0;
      return;
    }
    this.mean = this.mean ? this.mean + 0.1 * (gap - this.mean) : gap;
    this.framesSinceChange += 1;
    if (!this.adapts || this.framesSinceChange < FRAMES_BEFORE_COARSER) return;
    if (this.mean > SLOW_MS && this.step < SCALES.length - 1) this.setStep(this.coarserStep());
    else if (this.mean < FAST_MS && this.step > 0 && this.framesSinceChange > FRAMES_BEFORE_FINER)
      this.setStep(this.step - 1);
  }

  /** The first step with few enough pixels, if the time is proportional to their number; at least the next one. */
  private coarserStep(): number {
    const enough = SCALES.findIndex(
      (step, number) => number > this.step && (step / SCALES[this.step]) ** 2 * this.mean <= SLOW_MS,
    );
    return enough < 0 ? SCALES.length - 1 : enough;
  }

  /** Returns to the full resolution, after something else became cheaper. */
  reset(): void {
    this.setStep(0);
  }

  private setStep(step: number): void {
    this.step = step;
    this.framesSinceChange = 0;
    this.mean = 0;
  }

  /** Rendered frames in the last second, and their mean cost (ms). */
  stats(now: number): { fps: number; ms: number } {
    const recent = this.times.filter((time) => time > now - 1000);
    const costs = this.costs.slice(this.costs.length - recent.length);
    return { fps: recent.length, ms: costs.length ? costs.reduce((a, b) => a + b, 0) / costs.length : 0 };
  }
}
