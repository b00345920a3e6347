import { describe, expect, it } from "vitest";
import { Latencies, reached } from "./latency";

describe("latency of drags", () => {
  it("lasts from the event to the picture with its frame, or a later one", () => {
    const latencies = new Latencies();
    latencies.told(1, 100);
    latencies.drawn(105);
    latencies.heard(1, 40);
    latencies.seen(39);
    latencies.drawn(110);
    expect(latencies.values()).toEqual([]);
    latencies.seen(41);
    latencies.drawn(120);
    latencies.drawn(130);
    expect(latencies.values()).toEqual([20]);
  });

  it("counts only drags that were answered", () => {
    const latencies = new Latencies();
    for (const number of [1, 2, 3]) latencies.told(number, 10 * number);
    latencies.heard(2, 5);
    latencies.heard(1, 5); // skipped: a newer one was answered
    latencies.heard(9, 5); // nobody's
    latencies.seen(5);
    latencies.drawn(50);
    expect(latencies.values()).toEqual([30]);
    latencies.rest();
    latencies.heard(3, 6);
    latencies.seen(6);
    latencies.drawn(60);
    expect(latencies.values()).toEqual([30]);
    latencies.clear();
    expect(latencies.values()).toEqual([]);
  });

  it("knows later frames after the numbers began anew", () => {
    expect(reached(3, 2 ** 32 - 2)).toBe(true);
    expect(reached(2 ** 32 - 2, 3)).toBe(false);
    expect(reached(7, 7)).toBe(true);
  });
});
