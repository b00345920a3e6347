/** The latency of drags, step by step: from the pointer event to the rendered frame that first shows its effect. */

const MAX_TRACES = 4096;

/** The times of one drag, ms as `performance.now`. */
export interface Trace {
  event: number; // pointer event
  sent: number; // goal sent to the server
  heard: number; // answer received
  server: number; // ms, duration on the server as it reports it
  drawn: number; // frame submitted to the graphics card
  done: number; // frame finished by the graphics card
}

interface PendingTrace extends Trace {
  number: number;
  frame: number | null; // the stage frame with its effect
}

/** Whether the sequence number `a` is `b` or later; the numbers wrap at 2^32. */
export function isAtOrAfter(a: number, b: number): boolean {
  return ((a - b) | 0) >= 0;
}

export class Latencies {
  private pending: PendingTrace[] = [];
  private readonly ring: Trace[] = [];
  private latest: number | null = null; // the newest stage frame that was drawn

  /** Records that a pointer event was sent as a drag. */
  recordSent(number: number, event: number, sent: number): void {
    this.pending.push({ number, event, sent, heard: 0, server: 0, drawn: 0, done: 0, frame: null });
    if (this.pending.length > 64) this.pending.shift();
  }

  /** Records the stage frame of a drag. Older drags that the server skipped are dropped. */
  recordAnswer(number: number, frame: number, server: number, now: number): void {
    const answered = this.pending.find((trace) => trace.number === number && trace.frame === null);
    if (!answered) return;
    this.pending = this.pending.filter((trace) => trace.frame !== null || trace.number >= number);
    Object.assign(answered, { frame, server, heard: now });
  }

  recordSeen(frame: number): void {
    this.latest = frame;
  }

  /** Records a submitted frame; returns whether it shows a drag for the first time. */
  recordDrawn(now: number): boolean {
    const shown = this.pending.filter(
      (trace) => trace.frame !== null && !trace.drawn && this.latest !== null && isAtOrAfter(this.latest, trace.frame),
    );
    for (const trace of shown) trace.drawn = now;
    return shown.length > 0;
  }

  /** Records that the graphics card has finished all frames submitted until `drawn`. */
  recordDone(drawn: number, now: number): void {
    const over = this.pending.filter((trace) => trace.drawn && trace.drawn <= drawn);
    this.pending = this.pending.filter((trace) => !over.includes(trace));
    for (const { event, sent, heard, server, drawn: handed } of over)
      this.ring.push({ event, sent, heard: heard, server, drawn: handed, done: now });
    this.ring.splice(0, Math.max(0, this.ring.length - MAX_TRACES));
  }

  /** Drops drags without an answer, at the end of a drag. */
  dropPending(): void {
    this.pending = this.pending.filter((trace) => trace.drawn);
  }

  values(): Trace[] {
    return this.ring.map((trace) => ({ ...trace }));
  }

  clear(): void {
    this.ring.length = 0;
  }
}
