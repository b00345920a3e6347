import { describe, expect, it } from "vitest";
import { bernstein, extent, solveUnit } from "./bezier";
import { BEZIER, firstKeyAt, isBroken, LINEAR, STEP, segmentAt } from "./curves";
import { bezierValue, keySigns, sampleRow } from "./sampling";
import { hermite, numbers } from "./test_channels";

const row = (n: number) => new Float64Array(n);

describe("Bezier segments", () => {
  it("solve x(s) = u, also with handles of full length", () => {
    const random = numbers(1);
    for (let i = 0; i < 2000; i++) {
      const [p1, p2, u] = [random(), random(), random()];
      const s = solveUnit(p1, p2, u);
      expect(Math.abs(bernstein(0, p1, p2, 1, s) - u)).toBeLessThan(1e-13);
    }
    expect(bernstein(0, 1, 0, 1, solveUnit(1, 0, 0.5))).toBeCloseTo(0.5, 12);
    expect(solveUnit(0, 1, 0)).toBe(0);
    expect(solveUnit(0, 1, 1)).toBe(1);
  });

  it("have a tight extent", () => {
    const random = numbers(2);
    for (let i = 0; i < 300; i++) {
      const y = [0, 0, 0, 0].map(() => 4 * random() - 2) as [number, number, number, number];
      const [low, high] = extent(...y);
      const all = Array.from({ length: 2001 }, (_, k) => bernstein(...y, k / 2000));
      expect(Math.min(...all)).toBeGreaterThanOrEqual(low - 1e-12);
      expect(Math.max(...all)).toBeLessThanOrEqual(high + 1e-12);
      expect(Math.min(...all)).toBeLessThan(low + 1e-4);
      expect(Math.max(...all)).toBeGreaterThan(high - 1e-4);
    }
  });
});

describe("a channel", () => {
  it("finds keys and segments", () => {
    const times = [0, 1, 2, 4];
    expect([-1, 0, 0.5, 1, 4, 5].map((time) => firstKeyAt(times, time))).toEqual([0, 0, 1, 1, 3, 4]);
    expect([-1, 0, 0.5, 1, 3.9, 4, 5].map((time) => segmentAt(times, time))).toEqual([0, 0, 0, 1, 2, 2, 2]);
  });

  it("with thirds is the Hermite cubic", () => {
    const channel = hermite("translation", ["x"], [0, 2], [[1], [3]], [[4], [-2]]);
    for (const t of [0, 0.3, 1, 1.7, 2]) {
      const s = t / 2;
      const h =
        (2 * s ** 3 - 3 * s ** 2 + 1) * 1 +
        (s ** 3 - 2 * s ** 2 + s) * 8 +
        (3 * s ** 2 - 2 * s ** 3) * 3 +
        (s ** 3 - s ** 2) * -4;
      expect(bezierValue(channel, 0, 0, t)).toBeCloseTo(h, 12);
    }
  });

  it("steps, holds, extrapolates and repeats", () => {
    const base = {
      ...hermite("translation", ["x"], [1, 2, 3], [[0], [1], [4]]),
      segments: Uint8Array.of(STEP, LINEAR),
    };
    const at = (channel: typeof base, time: number) => sampleRow(channel, time, keySigns(channel), row(1))[0];
    expect([1, 1.999, 2, 2.5, 3].map((time) => at(base, time))).toEqual([0, 0, 1, 2.5, 4]);
    expect([0, 9].map((time) => at(base, time))).toEqual([0, 4]);
    const linear = { ...base, extrapolation: ["linear", "linear"] as const };
    expect([0, 4].map((time) => at(linear, time))).toEqual([0, 7]);
    const cycle = { ...base, extrapolation: ["cycle", "cycle_offset"] as const };
    expect(at(cycle, 0.5)).toBeCloseTo(2.5);
    expect(at(cycle, 4.5)).toBeCloseTo(6.5);
  });

  it("keeps rotations of unit length and without jumps of sign", () => {
    const random = numbers(3);
    const turns = Array.from({ length: 8 }, () => {
      const q = [0, 0, 0, 0].map(() => random() - 0.5);
      const length = Math.hypot(...q);
      return q.map((value) => value / length);
    });
    const channel = hermite("rotation", ["x", "y", "z", "w"], [0, 1, 2, 3, 4, 5, 6, 7], turns);
    const kinds = Uint8Array.of(LINEAR, BEZIER, LINEAR, LINEAR, BEZIER, LINEAR, LINEAR);
    const mixed = { ...channel, segments: kinds };
    const signs = keySigns(mixed);
    let before: Float64Array | null = null;
    for (let time = -0.5; time < 7.5; time += 0.002) {
      const now = sampleRow(mixed, time, signs, row(4));
      expect(Math.hypot(...now)).toBeCloseTo(1, 9);
      const k = Math.max(0, Math.min(6, Math.floor(time)));
      if (before && kinds[k] === LINEAR)
        expect(now.reduce((sum, value, c) => sum + value * (before as Float64Array)[c], 0)).toBeGreaterThan(0.99);
      before = now;
    }
  });

  it("is broken if its handles are not collinear", () => {
    const smooth = hermite("translation", ["x"], [0, 1, 3], [[0], [1], [0]], [[0], [2], [0]]);
    expect(isBroken(smooth, 1, 0)).toBe(false);
    expect(isBroken({ ...smooth, segments: Uint8Array.of(LINEAR, BEZIER) }, 1, 0)).toBe(true);
    const after = smooth.after.slice();
    after[3] *= 1.01;
    expect(isBroken({ ...smooth, after }, 1, 0)).toBe(true);
    expect(isBroken({ ...smooth, after }, 0, 0)).toBe(false);
  });
});
