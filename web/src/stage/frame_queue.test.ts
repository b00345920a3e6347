import { describe, expect, it } from "vitest";
import { Inbox } from "./frame_queue";
import type { Frame } from "./frames";

const frame = (stream: number, sequence: number): Frame => ({
  stream,
  sequence,
  form: 1,
  time: 0,
  a: 0,
  b: 0,
  values: new Float32Array(),
});

describe("inbox", () => {
  it("keeps the newest frame of each stream, and says which one it replaces", () => {
    const inbox = new Inbox();
    expect(inbox.put(frame(0, 1))).toBeNull();
    expect(inbox.put(frame(1, 7))).toBeNull();
    expect(inbox.put(frame(0, 2))?.sequence).toBe(1);
    expect(inbox.dropped).toBe(1);
    expect(inbox.of(0)?.sequence).toBe(2);
  });

  it("hands over what is shown and keeps the rest", () => {
    const inbox = new Inbox();
    inbox.put(frame(0, 1));
    inbox.put(frame(1, 7));
    expect(inbox.take((stream) => stream === 0).map((each) => each.sequence)).toEqual([1]);
    expect(inbox.of(0)).toBeUndefined();
    expect(inbox.of(1)?.sequence).toBe(7);
  });
});
