import { describe, expect, it } from "vitest";
import { Breath } from "./breath";

describe("pauses between pictures", () => {
  it("are half as long as a picture takes", () => {
    const breath = new Breath();
    expect(breath.wait(5)).toBe(0);
    breath.drew(100, 120);
    expect(breath.wait(120)).toBeCloseTo(10);
    expect(breath.wait(125)).toBeCloseTo(5);
    expect(breath.wait(137)).toBe(0);
  });

  it("are left out after a hand has done something", () => {
    const breath = new Breath();
    breath.drew(100, 120);
    breath.touch(121);
    expect(breath.wait(122)).toBe(0);
    breath.drew(420, 440);
    expect(breath.wait(440)).toBeGreaterThan(0);
  });
});
