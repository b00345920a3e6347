import { describe, expect, it } from "vitest";
import { isAtOrAfter, Latencies } from "./latency";

const totals = (latencies: Latencies): number[] => latencies.values().map(({ event, done }) => done - event);

describe("latency of drags", () => {
  it("lasts from the event until a rendered frame with its frame, or a later one, is finished", () => {
    const latencies = new Latencies();
    latencies.recordSent(1, 100, 101);
    expect(latencies.recordDrawn(105)).toBe(false);
    latencies.recordAnswer(1, 40, 7, 109);
    latencies.recordSeen(39);
    expect(latencies.recordDrawn(110)).toBe(false);
    latencies.recordSeen(41);
    expect(latencies.recordDrawn(120)).toBe(true);
    expect(latencies.recordDrawn(125)).toBe(false);
    expect(latencies.values()).toEqual([]);
    latencies.recordDone(119, 121); // an earlier frame
    latencies.recordDone(120, 131);
    latencies.recordDone(125, 140);
    expect(latencies.values()).toEqual([{ event: 100, sent: 101, heard: 109, server: 7, drawn: 120, done: 131 }]);
  });

  it("counts only drags that were answered", () => {
    const latencies = new Latencies();
    for (const number of [1, 2, 3]) latencies.recordSent(number, 10 * number, 10 * number);
    latencies.recordAnswer(2, 5, 1, 40);
    latencies.recordAnswer(1, 5, 1, 40); // skipped: a newer drag was answered
    latencies.recordAnswer(9, 5, 1, 40); // an unknown number
    latencies.recordSeen(5);
    latencies.recordDrawn(50);
    latencies.recordDone(50, 50);
    expect(totals(latencies)).toEqual([30]);
    latencies.dropPending();
    latencies.recordAnswer(3, 6, 1, 55);
    latencies.recordSeen(6);
    latencies.recordDrawn(60);
    latencies.recordDone(60, 60);
    expect(totals(latencies)).toEqual([30]);
    latencies.clear();
    expect(latencies.values()).toEqual([]);
  });

  it("orders frames after their numbers wrapped", () => {
    expect(isAtOrAfter(3, 2 ** 32 - 2)).toBe(true);
    expect(isAtOrAfter(2 ** 32 - 2, 3)).toBe(false);
    expect(isAtOrAfter(7, 7)).toBe(true);
  });
});
