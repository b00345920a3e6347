/** The particle between two reports of the server, and the tail of where it has been. */

export type Place = [number, number, number];

interface Sample {
  time: number; // ms of the page's clock
  place: Place;
  weight: number;
}

const DELAY = 75; // ms behind: a report comes every 50, some a little late
const TAIL = 1100; // ms that are remembered
const LEAP = 0.5; // of the map's unit: further than this within one report is a bridge; it is crossed, not smeared

/** One voice on the map. Reports go in when they come, places come out when something is drawn. */
export class Trail {
  private samples: Sample[] = [];

  /** A report that came at `time`. */
  add(time: number, place: Place, weight: number): void {
    const last = this.samples[this.samples.length - 1];
    if (last && time <= last.time) return;
    this.samples.push({ time, place, weight });
    const first = this.samples.findIndex((sample) => sample.time > time - TAIL - 2 * DELAY);
    if (first > 1) this.samples.splice(0, first - 1);
  }

  clear(): void {
    this.samples = [];
  }

  /** Where it is at a time, a moment late; nothing before the first report. */
  at(time: number): { place: Place; weight: number } | null {
    const samples = this.samples;
    const when = time - DELAY;
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

  /** Segments of the tail, newest first: both ends, how fresh (1 now, 0 gone), and whether it is a bridge. */
  tail(time: number): { from: Place; to: Place; fresh: number; bridge: boolean }[] {
    const head = this.at(time);
    if (!head) return [];
    const when = time - DELAY;
    const found: { from: Place; to: Place; fresh: number; bridge: boolean }[] = [];
    let to = head.place;
    for (let i = this.samples.length - 1; i >= 0; i--) {
      const sample = this.samples[i];
      if (sample.time > when) continue;
      const fresh = 1 - (when - sample.time) / TAIL;
      if (fresh <= 0) break;
      const length = Math.hypot(...sample.place.map((value, k) => value - to[k]));
      found.push({ from: sample.place, to, fresh, bridge: length > LEAP });
      to = sample.place;
    }
    return found;
  }

  /** Whether nothing will change any more: it rests, and its tail has gone. */
  resting(time: number): boolean {
    const last = this.samples[this.samples.length - 1];
    return !last || time - DELAY - last.time > TAIL;
  }
}
