import { describe, expect, it } from "vitest";
import { motionOf, wheelFactor } from "./camera_controls";

const press = (button: number, keys: Partial<Record<"altKey" | "shiftKey" | "ctrlKey" | "metaKey", boolean>> = {}) =>
  motionOf({ button, altKey: false, shiftKey: false, ctrlKey: false, metaKey: false, ...keys });

describe("camera controls", () => {
  it("follow Blender", () => {
    expect(press(1)).toBe("turn");
    expect(press(1, { shiftKey: true })).toBe("move");
    expect(press(1, { ctrlKey: true })).toBe("zoom");
  });

  it("follow Maya with Alt", () => {
    expect([0, 1, 2].map((button) => press(button, { altKey: true }))).toEqual(["turn", "move", "zoom"]);
  });

  it("turn by a plain drag, without a middle button", () => {
    expect(press(0)).toBe("turn");
    expect(press(0, { shiftKey: true })).toBeNull();
    expect(press(2)).toBeNull();
  });

  it("zoom by the wheel, out and in alike, in limited steps", () => {
    const wheel = (deltaY: number, deltaMode = 0, ctrlKey = false) => wheelFactor({ deltaY, deltaMode, ctrlKey });
    expect(wheel(100) * wheel(-100)).toBeCloseTo(1, 9);
    expect(wheel(100)).toBeGreaterThan(1);
    expect(wheel(1e6)).toBeLessThan(1.25);
    expect(wheel(3, 1)).toBeCloseTo(wheel(48), 9);
    expect(wheel(5, 0, true)).toBeGreaterThan(wheel(5));
  });
});
