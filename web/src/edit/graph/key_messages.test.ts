import { describe, expect, it } from "vitest";
import { withHandle } from "./handles";
import { changesBetween, dragMessage, runsOf, sharedTransform, wireChannel } from "./key_messages";
import { transformKeys } from "./key_transform";
import { keyFactors } from "./lanes";
import { hermite } from "./test_channels";

const channel = hermite(
  "translation",
  ["x", "y"],
  [0, 1, 2, 4],
  [
    [0, 1],
    [1, 2],
    [3, 0],
    [2, 2],
  ],
  [
    [0, 1],
    [2, 0.5],
    [1, -1],
    [0, 0],
  ],
);
const flags = Uint8Array.of(0, 0, 1, 0, 1, 1, 0, 0);
const selection = new Map([[0, flags]]);

describe("a message", () => {
  it("of a handle has both sides of its key, in the changed columns", () => {
    const shown = new Map([[0, withHandle(channel, { channel: 0, column: 1, key: 1, side: "after" }, 0.5, 1)]]);
    expect(changesBetween([channel], shown)).toEqual([
      { target: "joint", channel: "translation", key: 1, column: 1, before: [1 / 3, 2 / 3], after: [0.5, 1] },
    ]);
  });
  it("of a move has the time once per key, and handles of neighbours", () => {
    const one = Uint8Array.of(0, 0, 1, 0, 0, 0, 0, 0);
    const shown = new Map([[0, transformKeys(channel, one, { time: [1, 0.5], scale: 1, offsets: [0, 0] })]]);
    const changes = changesBetween([channel], shown);
    expect(changes.map(({ key, column, time }) => [key, column, time])).toEqual([
      [0, 0, undefined],
      [0, 1, undefined],
      [1, 0, 1.5],
      [1, 1, undefined],
      [2, 0, undefined],
      [2, 1, undefined],
    ]);
    expect(changes.every((change) => change.value === undefined)).toBe(true);
  });
  it("of many keys is one transform, if all columns share it", () => {
    const done = { time: [1, 0.5] as const, scale: 1, offset: () => 0.25 };
    expect(sharedTransform(selection, [channel], done)).toEqual({
      keys: [
        { target: "joint", channel: "translation", columns: [0], runs: [[1, 3]] },
        { target: "joint", channel: "translation", columns: [1], runs: [[2, 3]] },
      ],
      time: [1, 0.5],
      value: [1, 0.25],
    });
    expect(sharedTransform(selection, [channel], { ...done, offset: (_, column) => column })).toBeNull();
    const times = Array.from({ length: 500 }, (_, k) => k);
    const many = hermite(
      "translation",
      ["x"],
      times,
      times.map(() => [0]),
    );
    const all = new Map([[0, new Uint8Array(500).fill(1)]]);
    expect(dragMessage([many], new Map([[0, many]]), all, done).transform?.keys).toEqual([
      { target: "joint", channel: "translation", columns: null, runs: [[0, 500]] },
    ]);
    expect(dragMessage([channel], new Map([[0, channel]]), selection, done)).toEqual({ changes: [] });
  });
  it("of a rotation shown with the other sign has single changes", () => {
    const turn = hermite(
      "rotation",
      ["x", "y", "z", "w"],
      [0, 1],
      [
        [0, 0, 0, 1],
        [0, 0, -0.1, -0.99],
      ],
    );
    const linear = { ...turn, segments: Uint8Array.of(1) };
    expect([...keyFactors(linear)].map(Math.sign)).toEqual([1, -1]);
    const all = new Map([[0, new Uint8Array(8).fill(1)]]);
    expect(sharedTransform(all, [linear], { time: [1, 0], scale: 1, offset: () => 1 })).toBeNull();
    expect(sharedTransform(all, [linear], { time: [1, 1], scale: 1, offset: () => 0 })).not.toBeNull();
  });
  it("names keys by runs, and split channels by their number", () => {
    expect(runsOf(selection, [channel], true)).toEqual([
      { target: "joint", channel: "translation", columns: null, runs: [[1, 3]] },
    ]);
    expect([wireChannel({ kind: "weights" }, 3), wireChannel({ kind: "euler" }, 3)]).toEqual(["weights:3", "euler"]);
  });
});
