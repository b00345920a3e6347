import { describe, expect, it } from "vitest";
import { panSpan, roundStep, snapToFrame, ticks, timeOf, xOf, zoomSpan } from "./ruler";

describe("ruler", () => {
  const view = { start: 2, stop: 6 };

  it("maps times to places and back", () => {
    for (const time of [2, 3.3, 6, 9]) expect(timeOf(xOf(time, view, 800), view, 800)).toBeCloseTo(time, 10);
  });

  it("rounds a step up to 1, 2 or 5 times a power of ten", () => {
    expect([0.011, 0.2, 0.3, 1, 3, 70].map(roundStep)).toEqual([0.02, 0.2, 0.5, 1, 5, 100]);
  });

  it("leaves room between labels at every zoom, and labels inside the view only", () => {
    for (const seconds of [0.1, 0.7, 3, 12.5, 90, 4000]) {
      const whole = { start: 0, stop: seconds };
      const labelled = ticks(whole, 900, 30).filter((tick) => tick.label);
      expect(labelled.length).toBeGreaterThan(1);
      const places = labelled.map((tick) => xOf(tick.time, whole, 900));
      for (let k = 1; k < places.length; k++) expect(places[k] - places[k - 1]).toBeGreaterThanOrEqual(60);
      expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...places)).toBeLessThanOrEqual(900.001);
    }
  });

  it("puts small ticks on frames if there is room", () => {
    const small = ticks({ start: 0, stop: 1 }, 900, 24).filter((tick) => !tick.label);
    for (const tick of small) expect(tick.time * 24).toBeCloseTo(Math.round(tick.time * 24), 6);
  });

  it("snaps to frames inside the span", () => {
    expect(snapToFrame(0.51, 24, { start: 0, stop: 2 })).toBeCloseTo(0.5, 10);
    expect(snapToFrame(9, 24, { start: 0, stop: 2 })).toBe(2);
    expect(snapToFrame(-1, 24, { start: 0, stop: 2 })).toBe(0);
  });

  it("zooms around a fixed time, within the whole", () => {
    const whole = { start: 0, stop: 10 };
    const near = zoomSpan(view, 0.5, 3, whole);
    expect(xOf(3, near, 100)).toBeCloseTo(xOf(3, view, 100), 10);
    expect(zoomSpan(view, 1000, 3, whole)).toEqual(whole);
    expect(panSpan(view, 100, whole)).toEqual({ start: 6, stop: 10 });
    expect(panSpan(view, -100, whole)).toEqual({ start: 0, stop: 4 });
  });
});
