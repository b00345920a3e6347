import { describe, expect, it } from "vitest";
import { FrameThrottle } from "./frame_throttle";

describe("pauses between rendered frames", () => {
  it("are half as long as a frame takes", () => {
    const throttle = new FrameThrottle();
    expect(throttle.delay(5)).toBe(0);
    throttle.recordFrame(100, 120);
    expect(throttle.delay(120)).toBeCloseTo(10);
    expect(throttle.delay(125)).toBeCloseTo(5);
    expect(throttle.delay(137)).toBe(0);
  });

  it("are left out after an input", () => {
    const throttle = new FrameThrottle();
    throttle.recordFrame(100, 120);
    throttle.recordInput(121);
    expect(throttle.delay(122)).toBe(0);
    throttle.recordFrame(420, 440);
    expect(throttle.delay(440)).toBeGreaterThan(0);
  });

  it("last until the request of an input is answered and its frame has arrived, up to a limit", () => {
    const throttle = new FrameThrottle();
    throttle.recordFrame(90, 100);
    throttle.setAwaitingAnswer(true, 105);
    expect(throttle.delay(106)).toBe(0); // no input before
    throttle.setAwaitingAnswer(false, 107);
    throttle.recordInput(110);
    throttle.setAwaitingAnswer(true, 110);
    expect(throttle.delay(120)).toBe(60);
    expect(throttle.delay(190)).toBe(0);
    throttle.setAwaitingAnswer(false, 130);
    expect(throttle.delay(131)).toBe(24);
    throttle.recordArrival();
    expect(throttle.delay(132)).toBe(0);
  });
});
