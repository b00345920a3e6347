/** Latency of drags as a hand feels it: from the pointer's event to the picture that first shows what it did. */

const KEPT = 4096;

interface Sent {
  number: number;
  at: number; // ms, the pointer's event
}

interface Answered {
  at: number;
  frame: number; // the stage frame that shows it
}

/** Is `a` the sequence number `b`, or a later one? They count on after 2^32 from 0. */
export function reached(a: number, b: number): boolean {
  return ((a - b) | 0) >= 0;
}

export class Latencies {
  private sent: Sent[] = [];
  private answered: Answered[] = [];
  private readonly ring: number[] = [];
  private latest = 0; // the newest stage frame that was drawn

  /** A pointer's event was sent as a drag. */
  told(number: number, at: number): void {
    this.sent.push({ number, at });
    if (this.sent.length > 64) this.sent.shift();
  }

  /** The server says which frame shows a drag; older drags that it skipped are shown by it too, and not counted. */
  heard(number: number, frame: number): void {
    const found = this.sent.find((each) => each.number === number);
    if (!found) return;
    this.sent = this.sent.filter((each) => each.number > number);
    this.answered.push({ at: found.at, frame });
  }

  seen(frame: number): void {
    this.latest = frame;
  }

  /** A picture is done. */
  drawn(now: number): void {
    const shown = this.answered.filter((each) => reached(this.latest, each.frame));
    if (!shown.length) return;
    this.answered = this.answered.filter((each) => !shown.includes(each));
    for (const each of shown) this.ring.push(now - each.at);
    this.ring.splice(0, Math.max(0, this.ring.length - KEPT));
  }

  /** A gesture is over: what was not answered will not be. */
  rest(): void {
    this.sent = [];
  }

  values(): number[] {
    return [...this.ring];
  }

  clear(): void {
    this.ring.length = 0;
  }
}
