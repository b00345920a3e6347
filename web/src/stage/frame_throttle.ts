/**
 * Pauses between rendered frames with software rendering. The page does nothing else while it renders, so with
 * back-to-back frames an input event waits for one frame to end and its answer for another to begin. Therefore frames
 * leave time between them, none begins while the answer to an input is pending, and the frame with the answer is drawn
 * at once.
 */

const PAUSE_RATIO = 0.5; // of the time that a frame takes to render
const RESPONSE_WINDOW_MS = 300; // after an input, in which requests count as caused by it
const MAX_WAIT_MS = 80; // after a rendered frame, to wait for an answer
const FRAME_DELAY_MS = 25; // after an answer, until its frame arrives

export class FrameThrottle {
  private lastEnd = -Infinity; // ms, end of the last rendered frame
  private nextStart = -Infinity; // ms, earliest start of the next frame
  private lastInput = -Infinity; // ms, last input event
  private frameDue = -Infinity; // ms, when the frame that follows an answer should have arrived
  private awaitsAnswer = false; // an input has an unanswered request

  /** Records the start and end of a rendered frame (ms). */
  recordFrame(start: number, end: number): void {
    this.lastEnd = end;
    this.nextStart = end + PAUSE_RATIO * (end - start);
  }

  /** Records an input event. */
  recordInput(now: number): void {
    this.lastInput = now;
  }

  /** Says whether requests to the server are unanswered. */
  setAwaitingAnswer(isWaiting: boolean, now: number): void {
    if (this.awaitsAnswer && !isWaiting) this.frameDue = now + FRAME_DELAY_MS;
    this.awaitsAnswer = isWaiting && this.isResponding(now);
  }

  /** Records that a frame arrived from the server. */
  recordArrival(): void {
    this.frameDue = -Infinity;
  }

  /** How long the next frame has to wait (ms); 0 if it may begin. */
  delay(now: number): number {
    if (this.awaitsAnswer) return Math.max(0, this.lastEnd + MAX_WAIT_MS - now);
    if (now < this.frameDue) return this.frameDue - now;
    return this.isResponding(now) ? 0 : Math.max(0, this.nextStart - now);
  }

  private isResponding(now: number): boolean {
    return now < this.lastInput + RESPONSE_WINDOW_MS;
  }
}
