/** Channels for tests. */
import { BEZIER, type CurveChannel } from "./curves";

/** A channel with Hermite segments: handles of a third of their segments, with one slope for each key and column. */
export function hermite(
  kind: string,
  columns: string[],
  times: number[],
  values: number[][],
  slopes?: number[][],
): CurveChannel {
  const n = columns.length;
  const before = new Float64Array(times.length * n * 2);
  const after = new Float64Array(times.length * n * 2);
  times.forEach((time, k) => {
    for (let c = 0; c < n; c++) {
      const at = 2 * (k * n + c);
      const slope = slopes?.[k][c] ?? 0;
      before[at] = k > 0 ? (time - times[k - 1]) / 3 : 0;
      after[at] = k + 1 < times.length ? (times[k + 1] - time) / 3 : 0;
      before[at + 1] = before[at] * slope;
      after[at + 1] = after[at] * slope;
    }
  });
  const segments = new Uint8Array(Math.max(0, times.length - 1)).fill(BEZIER);
  return {
    target: "joint",
    kind,
    columns,
    times: Float64Array.from(times),
    values: Float64Array.from(values.flat()),
    segments,
    before,
    after,
    extrapolation: ["hold", "hold"],
  };
}

/** Random numbers from 0 to 1 with a seed. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
