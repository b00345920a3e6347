import { describe, expect, it } from "vitest";
import { ResolutionScaler } from "./resolution_scaler";

function run(scaler: ResolutionScaler, pictures: number, gap: number, from = 0): number {
  for (let i = 1; i <= pictures; i++) scaler.recordFrame(from + i * gap, 5);
  return from + pictures * gap;
}

describe("the resolution", () => {
  it("decreases if frames are slow, and is full at rest", () => {
    const scaler = new ResolutionScaler(1);
    run(scaler, 7, 90);
    expect(scaler.pixelRatio(false)).toBe(1);
    run(scaler, 200, 90, 7 * 90);
    expect(scaler.pixelRatio(false)).toBe(0.5);
    expect(scaler.pixelRatio(true)).toBe(1);
  });

  it("decreases by as much as needed at once", () => {
    const slightly = new ResolutionScaler(1);
    run(slightly, 9, 36);
    expect(slightly.pixelRatio(false)).toBe(0.8);
    const much = new ResolutionScaler(1);
    run(much, 9, 150);
    expect(much.pixelRatio(false)).toBe(0.5);
  });

  it("increases again, more slowly", () => {
    const scaler = new ResolutionScaler(2);
    const at = run(scaler, 30, 90);
    expect(scaler.isCoarse).toBe(true);
    run(scaler, 700, 10, at);
    expect(scaler.isCoarse).toBe(false);
  });

  it("ignores the time without motion", () => {
    const scaler = new ResolutionScaler(1);
    run(scaler, 60, 5000);
    expect(scaler.isCoarse).toBe(false);
    // requested now and then, and drawn at once
    for (let i = 0; i < 60; i++) scaler.recordFrame(400_000 + 500 * i, 5, 12);
    expect(scaler.isCoarse).toBe(false);
    for (let i = 0; i < 60; i++) scaler.recordFrame(500_000 + 500 * i, 5, 490); // requested all the time
    expect(scaler.isCoarse).toBe(true);
  });

  it("stays full if adapting is off", () => {
    const scaler = new ResolutionScaler(1, false);
    run(scaler, 300, 200);
    expect(scaler.isCoarse).toBe(false);
  });

  it("comes with statistics of the last second", () => {
    const scaler = new ResolutionScaler(1);
    const now = run(scaler, 100, 20);
    expect(scaler.stats(now).fps).toBe(50);
    expect(scaler.stats(now).ms).toBe(5);
    expect(scaler.stats(now + 5000).fps).toBe(0);
  });

  it("is lowest at once during a drag with software rendering, and full at rest", () => {
    expect(new ResolutionScaler(2).pixelRatio(false, true)).toBe(1);
    expect(new ResolutionScaler(2).pixelRatio(true, true)).toBe(2);
    expect(new ResolutionScaler(2, false).pixelRatio(false, true)).toBe(2);
  });
});
