import { Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { asSentence } from "../shell/notices";
import { distinctTimes } from "./actions";
import { separateLabels } from "./curve_labels";
import { formatLength } from "./drag";
import { ringPaths } from "./gizmo";
import { limitableColumns } from "./joint_section";
import { constraintRows } from "./lists";
import { cardPosition, suggestionResult } from "./obstacles";
import { ghostTimes } from "./onion_skin";
import { boneAxis } from "./ribbon";
import { resample, strokeSpan } from "./sketch_tool";
import { jointPoint, pointName, samePoint, skinPoint } from "./view";

describe("points", () => {
  it("are the same by joint, offset and vertex", () => {
    expect(samePoint(jointPoint("hand"), jointPoint("hand"))).toBe(true);
    expect(samePoint(jointPoint("hand"), { ...jointPoint("hand"), offset: [0, 0.1, 0] })).toBe(false);
    expect(samePoint(skinPoint(3), skinPoint(4))).toBe(false);
    expect([pointName(jointPoint("hand")), pointName(skinPoint(7))]).toEqual(["hand", "vertex 7"]);
  });
});

describe("times of keys", () => {
  it("are unique, to the last digit", () => {
    expect(distinctTimes([1 / 24, 0.5, 1 / 24 + 1e-9, 0, 0.5])).toEqual([0, 1 / 24, 0.5]);
  });
});

describe("lengths", () => {
  it("have a suitable unit", () => {
    expect([formatLength(0.0021), formatLength(0.123), formatLength(2.5)]).toEqual(["2.1 mm", "12.3 cm", "2.50 m"]);
  });
});

describe("names beside curves", () => {
  it("do not overlap, and the first keeps its position", () => {
    const wanted = Array.from({ length: 5 }, (_, i) => ({ x: 10 + i, y: 100 + 2 * i, width: 60 }));
    const heights = separateLabels(wanted, 19);
    expect(heights[0]).toBe(100);
    const sorted = [...heights].sort((a, b) => a - b);
    for (let i = 1; i < sorted.length; i++) expect(sorted[i] - sorted[i - 1]).toBeGreaterThanOrEqual(19);
  });

  it("stay where nothing overlaps", () => {
    expect(
      separateLabels(
        [
          { x: 0, y: 5, width: 20 },
          { x: 30, y: 6, width: 20 },
        ],
        19,
      ),
    ).toEqual([5, 6]);
  });
});

describe("the card of a blocked drag", () => {
  const [size, room] = [
    { width: 260, height: 100 },
    { width: 800, height: 500 },
  ];
  it("shows whole sentences", () => {
    expect(asSentence("the pin holds it: 3 of 4 mm remain")).toBe("The pin holds it: 3 of 4 mm remain.");
    expect(asSentence("'hand' is held.")).toBe("'hand' is held.");
    expect(asSentence("b_Hand.euler.x goes too far")).toBe("b_Hand.euler.x goes too far.");
  });
  it("shows the result of a suggestion", () => {
    const still = { reachedM: 0, requiredM: 0, reachedRad: 0, requiredRad: 0, slipM: 0 };
    expect(suggestionResult({ ...still, reached: true, keys: 0 })).toBe("gets there");
    expect(suggestionResult({ ...still, reached: true, keys: 3 })).toBe("gets there, 3 keys more");
    const far = { ...still, reached: false, keys: 0, reachedM: 17.27, requiredM: 26 };
    expect(suggestionResult(far)).toBe("8.73 of 26 m remain");
    const turned = {
      reachedM: 0.001,
      requiredM: 0.004,
      reachedRad: Math.PI / 180,
      requiredRad: Math.PI / 30,
      slipM: 0,
    };
    expect(suggestionResult({ ...turned, reached: false, keys: 1 })).toBe(
      "3 of 4 mm and 5 of 6 degrees remain, 1 key more",
    );
    expect(suggestionResult({ ...still, slipM: 0.01234, reached: false, keys: 0 })).toBe("12.3 mm of slip remain");
  });
  it("stands outside the ghost, above or below where there is no room, else inside, and never off the stage", () => {
    expect(cardPosition({ x: 500, y: 250 }, size, room)).toEqual({ x: 526, y: 200 });
    expect(cardPosition({ x: 700, y: 250 }, size, room)).toEqual({ x: 532, y: 124 });
    expect(cardPosition({ x: 700, y: 250 }, size, room, { x: 690, y: 150 })).toEqual({ x: 532, y: 276 });
    expect(cardPosition({ x: 350, y: 250 }, size, room)).toEqual({ x: 64, y: 200 });
    expect(cardPosition({ x: 100, y: 5 }, size, room)).toEqual({ x: 126, y: 52 });
    expect(cardPosition({ x: 100, y: 900 }, size, room).y).toBe(392);
    const narrow = cardPosition({ x: 150, y: 250 }, size, { width: 300, height: 500 });
    expect(narrow.x).toBeGreaterThanOrEqual(8);
    expect(narrow.x + size.width).toBeLessThanOrEqual(292);
  });
});

describe("ghosts", () => {
  it("are some frames apart, within the clip", () => {
    expect(ghostTimes(1, { ghosts: 2, apart: 6 }, 1.3, 24, [])).toEqual([0.5, 0.75, 1.25]);
    expect(ghostTimes(1, { ghosts: 0, apart: 6 }, 2, 24, [])).toEqual([]);
  });
  it("are at the keys before and after", () => {
    expect(ghostTimes(1, { ghosts: 2, apart: 0 }, 9, 24, [0, 0.4, 0.8, 1, 2, 3, 4])).toEqual([0.4, 0.8, 2, 3]);
    expect(ghostTimes(1, { ghosts: 0, apart: 0 }, 9, 24, [0, 2])).toEqual([]);
  });
});

describe("strokes", () => {
  const zigzag = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 5 },
  ];
  it("are resampled at even steps, also around corners", () => {
    const walked = resample(zigzag, 4);
    expect(walked).toEqual([
      { x: 0, y: 0 },
      { x: 4, y: 0 },
      { x: 8, y: 0 },
      { x: 10, y: 2 },
    ]);
    expect(resample([], 4)).toEqual([]);
  });
  it("span the times of their ends on the curve, else the keys", () => {
    const times = Float32Array.from([0, 1, 2, 3]);
    const path = Float32Array.from([0, 0, 0, 100, 0, 0, 200, 0, 0, 300, 0, 0]);
    expect(
      strokeSpan(
        [
          { x: 205, y: 8 },
          { x: 150, y: 90 },
          { x: 3, y: 5 },
        ],
        path,
        times,
        [1],
        0.5,
        3,
      ),
    ).toEqual({ start: 0, stop: 2 });
    expect(
      strokeSpan(
        [
          { x: 205, y: 300 },
          { x: 0, y: 300 },
        ],
        path,
        times,
        [1],
        0.5,
        3,
      ),
    ).toEqual({ start: 0, stop: 1 });
  });
});

describe("constraints", () => {
  it("are listed with their times", () => {
    const listed = constraintRows({
      pins: [{ id: "a", point: jointPoint("foot"), position: true, orientation: false, start: null, stop: null }],
      contacts: [{ id: "b", point: jointPoint("hand"), start: 0.5, stop: 1, orientation: false }],
      holds: [{ id: "c", point: skinPoint(4), time: 2, orientation: false }],
    });
    expect(listed.map(({ id, what, when }) => [id, what, when])).toEqual([
      ["a", "pin, free to turn", "always"],
      ["b", "contact", "0.50–1.00 s"],
      ["c", "moment", "2.00 s"],
    ]);
  });
});

describe("limits", () => {
  it("exist for Euler angles, converted quaternions and translations", () => {
    const channel = (name: string, columns: string[]) => ({
      target: "arm",
      channel: name,
      columns,
      times: [],
      keys: 0,
      beyond: ["hold", "hold"] as [string, string],
    });
    expect(
      limitableColumns([channel("rotation", ["x", "y", "z", "w"])]).map(({ column, angle }) => [column, angle]),
    ).toEqual([
      ["x", true],
      ["y", true],
      ["z", true],
    ]);
    expect(limitableColumns([channel("euler", ["arm.euler.x"]), channel("translation", ["y"])])).toEqual([
      { column: "x", title: "Turn X", angle: true },
      { column: "translation.y", title: "Move Y", angle: false },
    ]);
  });
});

describe("the gizmo", () => {
  it("has rings whose front faces the camera", () => {
    const seen: { x: number; y: number }[] = [];
    const { front, back } = ringPaths(new Vector3(0, 1, 0), new Vector3(0, 0, -1), (v) => {
      seen.push({ x: v.x, y: v.z });
      return { x: v.x, y: v.z };
    });
    for (const { x, y } of seen) expect(Math.hypot(x, y)).toBeCloseTo(1);
    const heights = (path: string) => [...path.matchAll(/[ML]\S+ (\S+?)(?=[ML]|$)/g)].map((match) => Number(match[1]));
    expect(Math.min(...heights(front))).toBeGreaterThanOrEqual(-0.2);
    expect(Math.max(...heights(back))).toBeLessThanOrEqual(0.2);
  });

  it("shows the axis of a turned point", () => {
    const half = Math.SQRT1_2;
    expect(boneAxis(Float32Array.from([half, 0, 0, half]), 0).map((value) => Math.round(value))).toEqual([0, 0, 1]);
    expect(boneAxis(Float32Array.from([9, 9, 9, 9, 0, 0, 0, 1]), 1)).toEqual([0, 1, 0]);
  });
});
