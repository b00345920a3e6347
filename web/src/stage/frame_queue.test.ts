import { describe, expect, it } from "vitest";
import { FrameQueue } from "./frame_queue";
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

describe("the frame queue", () => {
  it("keeps the newest frame of each stream, and says which one it replaces", () => {
    const queue = new FrameQueue();
    expect(queue.put(frame(0, 1))).toBeNull();
    expect(queue.put(frame(1, 7))).toBeNull();
    expect(queue.put(frame(0, 2))?.sequence).toBe(1);
    expect(queue.dropped).toBe(1);
    expect(queue.peek(0)?.sequence).toBe(2);
  });

  it("returns the frames of shown streams and keeps the others", () => {
    const queue = new FrameQueue();
    queue.put(frame(0, 1));
    queue.put(frame(1, 7));
    expect(queue.take((stream) => stream === 0).map((frame) => frame.sequence)).toEqual([1]);
    expect(queue.peek(0)).toBeUndefined();
    expect(queue.peek(1)?.sequence).toBe(7);
  });

  it("keeps the newest frame for a character that comes after it was taken", () => {
    const queue = new FrameQueue();
    expect(queue.newest(0)).toBeUndefined();
    queue.put(frame(0, 1));
    queue.take(() => true);
    expect(queue.peek(0)).toBeUndefined();
    expect(queue.newest(0)?.sequence).toBe(1);
    queue.put(frame(0, 2));
    expect(queue.newest(0)?.sequence).toBe(2);
  });
});
