/**
 * Latency of drags as a hand feels it, step by step: from the pointer's event to the picture that first shows what it
 * did.
 */

const KEPT = 4096;

/** When one drag was where, ms as `performance.now` has them. */
export interface Trace {
  event: number; // the hand moved
  sent: number; // the page had told the server
  heard: number; // the answer came
  server: number; // ms that the server worked on it, as it says
  drawn: number; // the picture was handed to the graphics card
  done: number; // the graphics card had drawn it
}

interface Going extends Trace {
  number: number;
  frame: number | null; // the stage frame that shows it
}

/** Is `a` the sequence number `b`, or a later one? They count on after 2^32 from 0. */
export function reached(a: number, b: number): boolean {
  return ((a - b) | 0) >= 0;
}

export class Latencies {
  private going: Going[] = [];
  private readonly ring: Trace[] = [];
  private latest: number | null = null; // the newest stage frame that was drawn

  /** A pointer's event was sent as a drag. */
  told(number: number, event: number, sent: number): void {
    this.going.push({ number, event, sent, heard: 0, server: 0, drawn: 0, done: 0, frame: null });
    if (this.going.length > 64) this.going.shift();
  }

  /** The server says which frame shows a drag; older drags that it skipped are shown by it too, and not counted. */
  heard(number: number, frame: number, server: number, now: number): void {
    const found = this.going.find((each) => each.number === number && each.frame === null);
    if (!found) return;
    this.going = this.going.filter((each) => each.frame !== null || each.number >= number);
    Object.assign(found, { frame, server, heard: now });
  }

  seen(frame: number): void {
    this.latest = frame;
  }

  /** A picture was handed to the graphics card. Returns whether it shows a drag for the first time. */
  drawn(now: number): boolean {
    const shown = this.going.filter(
      (each) => each.frame !== null && !each.drawn && this.latest !== null && reached(this.latest, each.frame),
    );
    for (const each of shown) each.drawn = now;
    return shown.length > 0;
  }

  /** The graphics card has drawn all that it was given until `drawn`. */
  done(drawn: number, now: number): void {
    const over = this.going.filter((each) => each.drawn && each.drawn <= drawn);
    this.going = this.going.filter((each) => !over.includes(each));
    for (const { event, sent, heard, server, drawn: handed } of over)
      this.ring.push({ event, sent, heard, server, drawn: handed, done: now });
    this.ring.splice(0, Math.max(0, this.ring.length - KEPT));
  }

  /** A gesture is over: what was not answered will not be. */
  rest(): void {
    this.going = this.going.filter((each) => each.drawn);
  }

  values(): Trace[] {
    return this.ring.map((each) => ({ ...each }));
  }

  clear(): void {
    this.ring.length = 0;
  }
}
