import { describe, expect, it } from "vitest";
import { channelsAfterClick, filterChannels } from "./channel_list";
import { allTimes, keysAt, keysInBox, ROW_PX, rowAt, rowMiddle, type Sheet, sheetBox } from "./dope";
import { angleTolerance, dialPosition, lengthText, resultText, toleranceAt } from "./reduce_dial";
import { EMPTY_SELECTION } from "./selection";
import { hermite } from "./test_channels";
import { xAt } from "./view";

const one = hermite(
  "translation",
  ["x", "y", "z"],
  [0, 1, 2],
  [
    [0, 0, 0],
    [1, 1, 1],
    [2, 2, 2],
  ],
);
const other = hermite(
  "euler",
  ["z", "x", "y"],
  [0, 1.5, 2],
  [
    [0, 0, 0],
    [1, 1, 1],
    [2, 2, 2],
  ],
);
const channels = [one, other, one, other];
const sheet = (changes: Partial<Sheet> = {}): Sheet => ({
  channels,
  rows: [0, 1, 2, 3],
  summary: allTimes(channels, [0, 1, 2, 3]),
  selection: EMPTY_SELECTION,
  view: { start: 0, stop: 4, low: 0, high: 1 },
  area: { left: 50, top: 20, width: 400, height: 100 },
  scroll: 0,
  ...changes,
});
const place = (channel: number, key: number) => ({ channel, column: -1, key });

describe("the dope sheet", () => {
  it("has a row for each channel and a summary", () => {
    expect(allTimes(channels, [0, 1])).toEqual([0, 1, 1.5, 2]);
    const shown = sheet();
    expect([19, 25, 20 + ROW_PX, 20 + 4.5 * ROW_PX, 20 + 5.5 * ROW_PX].map((y) => rowAt(shown, y))).toEqual([
      null,
      -1,
      0,
      3,
      null,
    ]);
    expect(rowAt(sheet({ scroll: ROW_PX }), 20 + ROW_PX)).toBe(1);
    expect(rowMiddle(sheet({ scroll: 5 }), 1)).toBe(20 + 2.5 * ROW_PX - 5);
  });
  it("finds a key, or all keys of one time in the summary", () => {
    const shown = sheet();
    const x = (time: number) => xAt(shown.view, shown.area, time);
    expect(keysAt(shown, x(1) + 4, rowMiddle(shown, 2))).toEqual([place(2, 1)]);
    expect(keysAt(shown, x(1) + 9, rowMiddle(shown, 2))).toEqual([]);
    expect(keysAt(shown, x(1.5), rowMiddle(shown, -1))).toEqual([place(1, 1), place(3, 1)]);
    expect(keysAt(shown, x(2), rowMiddle(shown, -1)).length).toBe(4);
  });
  it("selects by a box, from rows or from all", () => {
    const shown = sheet();
    const x = (time: number) => xAt(shown.view, shown.area, time);
    const rows = { left: x(0.9), right: x(1.6), top: rowMiddle(shown, 1), bottom: rowMiddle(shown, 2) };
    expect(keysInBox(shown, rows)).toEqual([place(1, 1), place(2, 1)]);
    expect(keysInBox(shown, { ...rows, top: 22, bottom: 30 }).length).toBe(4);
    expect(keysInBox(shown, { ...rows, top: 22 }).map((place) => place.channel)).toEqual([0, 1, 2]);
  });
  it("has a box around keys of two times or more", () => {
    const two = sheet({ selection: new Map([[1, Uint8Array.of(0, 0, 0, 1, 1, 1, 1, 1, 1)]]) });
    const box = sheetBox(two);
    expect([box?.left, box?.right]).toEqual([xAt(two.view, two.area, 1.5), xAt(two.view, two.area, 2)]);
    expect(sheetBox(sheet({ selection: new Map([[1, Uint8Array.of(1, 1, 1, 0, 0, 0, 0, 0, 0)]]) }))).toBeNull();
  });
});

describe("the list of channels", () => {
  it("is searched by words, and chosen from as lists are", () => {
    expect(filterChannels(["LeftArm rotation", "RightArm rotation", "LeftLeg euler"], "left rot")).toEqual([0]);
    const plain = { ctrlKey: false, metaKey: false, shiftKey: false };
    expect(channelsAfterClick([1, 2], [0, 1, 2, 3], 3, 1, plain)).toEqual([3]);
    expect(channelsAfterClick([1], [0, 1, 2, 3], 3, 1, { ...plain, shiftKey: true })).toEqual([1, 2, 3]);
    expect(channelsAfterClick([1, 3], [0, 1, 2, 3], 3, 1, { ...plain, ctrlKey: true })).toEqual([1]);
  });
});

describe("the dial that reduces", () => {
  it("goes in equal factors, there and back", () => {
    for (const at of [0, 0.3, 1]) expect(dialPosition(toleranceAt(at))).toBeCloseTo(at, 9);
    expect(
      [angleTolerance(1e-4), angleTolerance(0.002), angleTolerance(0.05)].map((angle) =>
        Math.round((180 * angle) / Math.PI),
      ),
    ).toEqual([2, 2, 10]);
    expect(toleranceAt(0.5) / toleranceAt(0.25)).toBeCloseTo(toleranceAt(1) / toleranceAt(0.75), 9);
  });
  it("shows its result", () => {
    const said = resultText({
      keys: 84,
      sourceKeys: 1743,
      error: 0.0042,
      angle: 0.02,
      seconds: 3.44,
      replaced: false,
    });
    expect(said).toEqual({ keys: "84 of 1,743, 21 times fewer", error: "4.2 mm, 1.15° at most", time: "3.4 s" });
    expect([0.00035, 0.012, 0.113, 1.5].map(lengthText)).toEqual(["0.35 mm", "12.0 mm", "113 mm", "1.50 m"]);
  });
});
