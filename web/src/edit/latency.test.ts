import { describe, expect, it } from "vitest";
import { Latencies, reached } from "./latency";

const totals = (latencies: Latencies): number[] => latencies.values().map(({ event, done }) => done - event);

describe("latency of drags", () => {
  it("lasts from the event to the picture with its frame, or a later one, that is done", () => {
    const latencies = new Latencies();
    latencies.told(1, 100, 101);
    expect(latencies.drawn(105)).toBe(false);
    latencies.heard(1, 40, 7, 109);
    latencies.seen(39);
    expect(latencies.drawn(110)).toBe(false);
    latencies.seen(41);
    expect(latencies.drawn(120)).toBe(true);
    expect(latencies.drawn(125)).toBe(false);
    expect(latencies.values()).toEqual([]);
    latencies.done(119, 121); // an earlier picture
    latencies.done(120, 131);
    latencies.done(125, 140);
    expect(latencies.values()).toEqual([{ event: 100, sent: 101, heard: 109, server: 7, drawn: 120, done: 131 }]);
  });

  it("counts only drags that were answered", () => {
    const latencies = new Latencies();
    for (const number of [1, 2, 3]) latencies.told(number, 10 * number, 10 * number);
    latencies.heard(2, 5, 1, 40);
    latencies.heard(1, 5, 1, 40); // skipped: a newer one was answered
    latencies.heard(9, 5, 1, 40); // nobody's
    latencies.seen(5);
    latencies.drawn(50);
    latencies.done(50, 50);
    expect(totals(latencies)).toEqual([30]);
    latencies.rest();
    latencies.heard(3, 6, 1, 55);
    latencies.seen(6);
    latencies.drawn(60);
    latencies.done(60, 60);
    expect(totals(latencies)).toEqual([30]);
    latencies.clear();
    expect(latencies.values()).toEqual([]);
  });

  it("knows later frames after the numbers began anew", () => {
    expect(reached(3, 2 ** 32 - 2)).toBe(true);
    expect(reached(2 ** 32 - 2, 3)).toBe(false);
    expect(reached(7, 7)).toBe(true);
  });
});
