/**
 * Frames that wait to be drawn: only the newest of each stream. The newest is kept after it was drawn, for a character
 * that is complete only then: the server does not send it again while nothing moves.
 */
import type { Frame } from "./frames";

export class FrameQueue {
  dropped = 0; // frames that a newer one replaced before they were drawn
  private readonly waiting = new Map<number, Frame>();
  private readonly newestFrames = new Map<number, Frame>();

  /** Adds a frame; returns the one that it replaces. One socket keeps the order, so a later frame is newer. */
  put(frame: Frame): Frame | null {
    const old = this.waiting.get(frame.stream) ?? null;
    if (old) this.dropped += 1;
    this.waiting.set(frame.stream, frame);
    this.newestFrames.set(frame.stream, frame);
    return old;
  }

  /** The frame of a stream that waits to be drawn. */
  peek(stream: number): Frame | undefined {
    return this.waiting.get(stream);
  }

  /** The newest frame of a stream, whether it was drawn or not. */
  newest(stream: number): Frame | undefined {
    return this.newestFrames.get(stream);
  }

  /** Removes and returns the frames of the streams that are shown. */
  take(isShown: (stream: number) => boolean): Frame[] {
    const taken = [...this.waiting.values()].filter((frame) => isShown(frame.stream));
    for (const frame of taken) this.waiting.delete(frame.stream);
    return taken;
  }
}
