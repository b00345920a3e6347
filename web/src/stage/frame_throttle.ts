/**
 * Breath: pauses between pictures where the processor draws. While a picture is drawn the page can do nothing else, and
 * where one follows the other a hand waits for one to end and its answer for another to begin. So pictures leave some
 * time between them, none is begun while the answer to a hand is on its way, and the one that shows it is drawn at
 * once.
 */

const PAUSE = 0.5; // of the time that a picture takes
const ANSWER = 300; // ms after a press of a button or a key that are its answer
const PATIENCE = 80; // ms after a picture that an answer is waited for
const EXPECTED = 25; // ms after an answer, by when a frame shows it

export class Breath {
  private last = -Infinity; // ms, when the last picture was done
  private next = -Infinity; // before which no other begins
  private touched = -Infinity; // when a hand did something last
  private due = -Infinity; // by when a frame shows what was answered
  private held = false; // for an answer

  /** A picture took the time between these, ms. */
  drew(start: number, end: number): void {
    this.last = end;
    this.next = end + PAUSE * (end - start);
  }

  /** A hand did something. */
  touch(now: number): void {
    this.touched = now;
  }

  /** Something was asked of the server, or has been answered. */
  awaits(asked: boolean, now: number): void {
    if (this.held && !asked) this.due = now + EXPECTED;
    this.held = asked && this.answers(now);
  }

  /** A frame has come. */
  came(): void {
    this.due = -Infinity;
  }

  /** How long another picture has to wait, ms; 0 where it may begin. */
  wait(now: number): number {
    if (this.held) return Math.max(0, this.last + PATIENCE - now);
    if (now < this.due) return this.due - now;
    return this.answers(now) ? 0 : Math.max(0, this.next - now);
  }

  private answers(now: number): boolean {
    return now < this.touched + ANSWER;
  }
}
