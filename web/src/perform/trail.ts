/** Interpolates the particle between two reports of the server, and keeps its tail. */

export type Place = [number, number, number];

interface Sample {
  time: number; // ms, of the page's clock
  place: Place;
  weight: number;
}

const DELAY_MS = 75; // reports come every 50 ms, some a little late
const TAIL_MS = 1100;
const BRIDGE_LENGTH = 0.5; // in units of the map: a longer step within one report is a bridge, which is drawn fainter

/** One voice on the map: reports go in when they arrive, positions come out when the map is drawn. */
export class Trail {
  private samples: Sample[] = [];

  /** Adds a report that arrived at `time`. */
  add(time: number, place: Place, weight: number): void {
    const last = this.samples[this.samples.length - 1];
    if (last && time <= last.time) return;
    this.samples.push({ time, place, weight });
    const first = this.samples.findIndex((sample) => sample.time > time - TAIL_MS - 2 * DELAY_MS);
    if (first > 1) this.samples.splice(0, first - 1);
  }

  clear(): void {
    this.samples = [];
  }

  /** The position and weight at a time, with the delay; null before the first report. */
  sampleAt(time: number): { place: Place; weight: number } | null {
    const samples = this.samples;
    const when = time - DELAY_MS;
    if (!samples.length) return null;
    const next = samples.findIndex((sample) => sample.time > when);
    if (next === 0) return samples[0];
    if (next < 0) return samples[samples.length - 1];
    const [before, after] = [samples[next - 1], samples[next]];
    const u = (when - before.time) / (after.time - before.time);
    return {
      place: before.place.map((value, k) => value + u * (after.place[k] - value)) as Place,
      weight: before.weight + u * (after.weight - before.weight),
    };
  }

  /** Segments of the tail, newest first: both ends, freshness (1 now, 0 gone), and whether it is a bridge. */
  tail(time: number): { from: Place; to: Place; fresh: number; bridge: boolean }[] {
    const head = this.sampleAt(time);
    if (!head) return [];
    const when = time - DELAY_MS;
    const segments: { from: Place; to: Place; fresh: number; bridge: boolean }[] = [];
    let to = head.place;
    for (let i = this.samples.length - 1; i >= 0; i--) {
      const sample = this.samples[i];
      if (sample.time > when) continue;
      const fresh = 1 - (when - sample.time) / TAIL_MS;
      if (fresh <= 0) break;
      const length = Math.hypot(...sample.place.map((value, k) => value - to[k]));
      segments.push({ from: sample.place, to, fresh, bridge: length > BRIDGE_LENGTH });
      to = sample.place;
    }
    return segments;
  }

  /** Whether nothing changes any more: the voice rests, and its tail has faded. */
  isResting(time: number): boolean {
    const last = this.samples[this.samples.length - 1];
    return !last || time - DELAY_MS - last.time > TAIL_MS;
  }
}
