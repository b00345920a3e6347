/** Where a clip is while it plays, is stepped or scrubbed. No DOM. */

export class Playback {
  time = 0; // seconds
  playing = false;
  loop = true;

  constructor(
    readonly frames: number,
    readonly rate: number, // frames per second
  ) {}

  /** Seconds from the first frame to the last. */
  get duration(): number {
    return Math.max(0, this.frames - 1) / this.rate;
  }

  /** The frame that is shown now. */
  get frame(): number {
    return Math.min(Math.max(0, this.frames - 1), Math.floor(this.time * this.rate + 1e-3));
  }

  /** Plays on. A loop includes the step from the last frame to the first; without one, playing ends at the last. */
  advance(seconds: number): void {
    if (!this.playing) return;
    this.time += seconds;
    if (this.loop) this.time %= this.duration + 1 / this.rate;
    else if (this.time >= this.duration) {
      this.time = this.duration;
      this.playing = false;
    }
  }

  /** Plays or pauses; at the end it plays again from the beginning. */
  toggle(): void {
    this.playing = !this.playing && this.frames > 1;
    if (this.playing && this.frame === this.frames - 1) this.time = 0;
  }

  /** Pauses at a frame, within the clip. */
  showFrame(frame: number): void {
    this.playing = false;
    this.time = Math.min(Math.max(0, frame), Math.max(0, this.frames - 1)) / this.rate;
  }
}
