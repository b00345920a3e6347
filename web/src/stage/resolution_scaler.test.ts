import { describe, expect, it } from "vitest";
import { Pace } from "./resolution_scaler";

function run(pace: Pace, pictures: number, gap: number, from = 0): number {
  for (let i = 1; i <= pictures; i++) pace.drew(from + i * gap, 5);
  return from + pictures * gap;
}

describe("pace", () => {
  it("gets coarser where pictures come too slowly, and whole when all rests", () => {
    const pace = new Pace(1);
    run(pace, 7, 90);
    expect(pace.ratioAt(false)).toBe(1);
    run(pace, 200, 90, 7 * 90);
    expect(pace.ratioAt(false)).toBe(0.5);
    expect(pace.ratioAt(true)).toBe(1);
  });

  it("gets as much coarser as it has to at once", () => {
    const slightly = new Pace(1);
    run(slightly, 9, 36);
    expect(slightly.ratioAt(false)).toBe(0.8);
    const much = new Pace(1);
    run(much, 9, 150);
    expect(much.ratioAt(false)).toBe(0.5);
  });

  it("gets finer again, more slowly", () => {
    const pace = new Pace(2);
    const at = run(pace, 30, 90);
    expect(pace.coarse).toBe(true);
    run(pace, 700, 10, at);
    expect(pace.coarse).toBe(false);
  });

  it("does not count the time in which nothing moved", () => {
    const pace = new Pace(1);
    run(pace, 60, 5000);
    expect(pace.coarse).toBe(false);
    for (let i = 0; i < 60; i++) pace.drew(400_000 + 500 * i, 5, 12); // asked for now and then, and drawn at once
    expect(pace.coarse).toBe(false);
    for (let i = 0; i < 60; i++) pace.drew(500_000 + 500 * i, 5, 490); // asked for all the time
    expect(pace.coarse).toBe(true);
  });

  it("leaves a machine alone that does not want it", () => {
    const pace = new Pace(1, false);
    run(pace, 300, 200);
    expect(pace.coarse).toBe(false);
  });

  it("counts the pictures of the last second", () => {
    const pace = new Pace(1);
    const now = run(pace, 100, 20);
    expect(pace.stats(now).fps).toBe(50);
    expect(pace.stats(now).ms).toBe(5);
    expect(pace.stats(now + 5000).fps).toBe(0);
  });

  it("is coarse at once for a hand, where the processor draws, and whole at rest", () => {
    expect(new Pace(2).ratioAt(false, true)).toBe(1);
    expect(new Pace(2).ratioAt(true, true)).toBe(2);
    expect(new Pace(2, false).ratioAt(false, true)).toBe(2);
  });
});
