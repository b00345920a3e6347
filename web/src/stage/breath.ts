/**
 * Breath: pauses between pictures where the processor draws. While a picture is drawn the page can do nothing else, and
 * where one follows the other a hand waits for one to end and its answer for another to begin. What answers a hand is
 * drawn without a pause.
 */

const PAUSE = 0.5; // of the time that a picture takes
const ANSWER = 300; // ms after a press of a button or a key that are its answer

export class Breath {
  private next = -Infinity; // ms, before which no other picture begins
  private touched = -Infinity; // ms, when a hand did something last

  /** A picture took the time between these, ms. */
  drew(start: number, end: number): void {
    this.next = end + PAUSE * (end - start);
  }

  /** A hand did something. */
  touch(now: number): void {
    this.touched = now;
  }

  /** How long another picture has to wait, ms; 0 where it may begin. */
  wait(now: number): number {
    return now < this.touched + ANSWER ? 0 : Math.max(0, this.next - now);
  }
}
