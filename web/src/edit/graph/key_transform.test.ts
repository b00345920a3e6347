import { describe, expect, it } from "vitest";
import { isBroken } from "./curves";
import { handleOffset, hasHandle, withHandle } from "./handles";
import { snapShift } from "./key_drags";
import { roomToMove, roomToStretch, transformKeys } from "./key_transform";
import { bezierValue } from "./sampling";
import { carrySelection, changeSelection, countKeys, EMPTY_SELECTION, findRuns, isSelected } from "./selection";
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
const inner = Uint8Array.of(0, 0, 1, 1, 1, 1, 0, 0);
const selection = new Map([[0, inner]]);

describe("a selection", () => {
  const place = (column: number, key: number) => ({ channel: 0, column, key });
  it("replaces, adds, removes and toggles", () => {
    let now = changeSelection(EMPTY_SELECTION, [channel], [place(-1, 1)], "replace");
    expect(countKeys(now, [channel])).toBe(1);
    expect([isSelected(now, 0, 2), isSelected(now, 0, 3), isSelected(now, 0, 4)]).toEqual([true, true, false]);
    now = changeSelection(now, [channel], [place(0, 2)], "add");
    expect(countKeys(now, [channel])).toBe(2);
    now = changeSelection(now, [channel], [place(0, 1), place(0, 2)], "remove");
    expect([...(now.get(0) as Uint8Array)]).toEqual([0, 0, 0, 1, 0, 0, 0, 0]);
    now = changeSelection(now, [channel], [place(1, 1)], "toggle");
    expect(now.size).toBe(0);
  });
  it("is carried over by name if the number of keys is the same", () => {
    const name = (channel: { target: string }) => channel.target;
    const other = { ...channel, target: "other" };
    expect(carrySelection(selection, [channel], [other, channel], name)).toEqual(new Map([[1, inner]]));
    const longer = hermite(
      "translation",
      ["x", "y"],
      [0, 1, 2, 3, 4],
      [
        [0, 1],
        [1, 2],
        [3, 0],
        [2, 2],
        [0, 0],
      ],
    );
    expect(carrySelection(selection, [channel], [longer], name).size).toBe(0);
    const bare = { ...channel, values: new Float64Array() }; // only its times are known, as in the dope sheet
    expect(carrySelection(selection, [channel], [bare], name)).toEqual(new Map([[0, inner]]));
  });
  it("is sent as runs", () => {
    expect(findRuns(8, (k) => inner[k] === 1)).toEqual([[2, 6]]);
    expect(findRuns(4, (k) => k !== 1)).toEqual([
      [0, 1],
      [2, 4],
    ]);
  });
});

describe("moved keys", () => {
  it("keep slopes, shares and smoothness, and values of other columns", () => {
    const flags = Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0);
    const moved = transformKeys(channel, flags, { time: [1, 0.5], scale: 1, offsets: [0.25, 0.25] });
    expect([...moved.times]).toEqual([0, 1, 2.5, 4]);
    expect([...moved.values]).toEqual([0, 1, 1, 2, 3.25, 0, 2, 2]);
    expect(isBroken(moved, 2, 0) || isBroken(moved, 2, 1) || isBroken(moved, 1, 0)).toBe(false);
    for (const [key, column] of [
      [1, 0],
      [2, 1],
      [2, 0],
    ]) {
      const at = 2 * (2 * key + column);
      expect(moved.after[at + 1] / moved.after[at]).toBeCloseTo(channel.after[at + 1] / channel.after[at], 12);
      expect(moved.after[at] / (moved.times[key + 1] - moved.times[key])).toBeCloseTo(1 / 3, 12);
    }
  });
  it("stretch the shape between them", () => {
    const all = new Uint8Array(8).fill(1);
    const wide = transformKeys(channel, all, { time: [2, 1], scale: 3, offsets: [-1, -1] });
    for (const t of [0.2, 1.5, 3.1]) {
      const k = t < 1 ? 0 : t < 2 ? 1 : 2;
      expect(bezierValue(wide, 1, k, 2 * t + 1)).toBeCloseTo(3 * bezierValue(channel, 1, k, t) - 1, 11);
    }
    const part = transformKeys(channel, inner, { time: [0.5, 0.75], scale: 1, offsets: [0, 0] });
    expect(isBroken(part, 1, 0) || isBroken(part, 2, 1)).toBe(false);
  });
  it("stop before their neighbours", () => {
    const [least, most] = roomToMove(selection, [channel], 0.1);
    expect(least).toBeCloseTo(-0.9, 3);
    expect(most).toBeCloseTo(1.9, 3);
    const [, wide] = roomToStretch(selection, [channel], 1, 0.1);
    expect(1 + wide * 1).toBeCloseTo(3.9, 3);
    const [narrow] = roomToStretch(selection, [channel], 1, 0.1);
    expect(narrow).toBeGreaterThan(0);
    expect(narrow).toBeLessThan(0.01);
    const [, left] = roomToStretch(selection, [channel], 2, 0.1);
    expect(2 - left).toBeCloseTo(0.1, 3);
  });
});

describe("a handle", () => {
  it("turns the other side, unless alone or broken", () => {
    const place = { channel: 0, column: 0, key: 1, side: "after" as const };
    const turned = withHandle(channel, place, 0.5, 2);
    expect(handleOffset(turned, place)).toEqual([0.5, 2]);
    expect(isBroken(turned, 1, 0)).toBe(false);
    expect(turned.before[4]).toBe(channel.before[4]); // the same length in time
    const alone = withHandle(channel, place, 0.5, 2, true);
    expect(isBroken(alone, 1, 0)).toBe(true);
    const after = withHandle(alone, { ...place, side: "before" }, -0.2, 1);
    expect(handleOffset(after, place)).toEqual([0.5, 2]);
  });
  it("stays within its segment", () => {
    const place = { channel: 0, column: 1, key: 1, side: "after" as const };
    expect(handleOffset(withHandle(channel, place, 9, 1), place)[0]).toBeCloseTo(0.95, 12);
    expect(handleOffset(withHandle(channel, place, -1, 1), place)[0]).toBeCloseTo(0.01, 12);
    expect(hasHandle(channel, 0, "before")).toBe(false);
    expect(hasHandle(channel, 3, "after")).toBe(false);
    expect(hasHandle({ ...channel, segments: Uint8Array.of(2, 1, 2) }, 1, "after")).toBe(false);
  });
});

describe("keys that snap to frames", () => {
  it("stay on them, also if their neighbours leave no room", () => {
    const frame = 1 / 24;
    expect(snapShift(5 * frame, 1.2 * frame, frame)).toBeCloseTo(frame, 9);
    expect(snapShift(5 * frame, 3 * frame, frame, [-2.001 * frame, 1.001 * frame])).toBeCloseTo(frame, 9);
    expect(snapShift(5 * frame, 3 * frame, frame, [-0.001 * frame, 0.001 * frame])).toBe(0);
    expect(snapShift(0.208333, 0, frame, [-1, 1])).toBe(0); // as sent, rounded
    expect(snapShift(5.3 * frame, frame, frame, [-0.1 * frame, 0.1 * frame])).toBe(0);
  });
});
