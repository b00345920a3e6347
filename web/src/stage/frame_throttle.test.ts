import { describe, expect, it } from "vitest";
import { Breath } from "./frame_throttle";

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

  it("last until what a hand asked for is answered and its frame is there, but not for long", () => {
    const breath = new Breath();
    breath.drew(90, 100);
    breath.awaits(true, 105);
    expect(breath.wait(106)).toBe(0); // nobody touched anything
    breath.awaits(false, 107);
    breath.touch(110);
    breath.awaits(true, 110);
    expect(breath.wait(120)).toBe(60);
    expect(breath.wait(190)).toBe(0);
    breath.awaits(false, 130);
    expect(breath.wait(131)).toBe(24);
    breath.came();
    expect(breath.wait(132)).toBe(0);
  });
});
