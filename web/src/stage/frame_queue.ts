/** Frames that have come and wait to be drawn: of each stream the newest alone. */
import type { Frame } from "./frames";

export class Inbox {
  dropped = 0; // frames that a newer one replaced before they were drawn
  private readonly waiting = new Map<number, Frame>();

  /** Keeps a frame; returns the one that it replaces. What comes later is newer: one socket keeps the order. */
  put(frame: Frame): Frame | null {
    const old = this.waiting.get(frame.stream) ?? null;
    if (old) this.dropped += 1;
    this.waiting.set(frame.stream, frame);
    return old;
  }

  of(stream: number): Frame | undefined {
    return this.waiting.get(stream);
  }

  /** Hands over the frames of those streams that are shown. */
  take(shows: (stream: number) => boolean): Frame[] {
    const taken = [...this.waiting.values()].filter((frame) => shows(frame.stream));
    for (const frame of taken) this.waiting.delete(frame.stream);
    return taken;
  }
}
