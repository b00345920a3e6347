import { Vector3 } from "three";
import { describe, expect, it } from "vitest";
import type { SuggestionEntry } from "../protocol/messages";
import { asSentence } from "../shell/notices";
import { distinctTimes } from "./actions";
import { separateLabels } from "./curve_labels";
import { formatLength, wheelFalloff } from "./drag";
import { ringPaths } from "./gizmo";
import { limitableColumns } from "./joint_section";
import { constraintRows } from "./lists";
import { ghostTimes } from "./onion_skin";
import { blockedTitle, changeLines, suggestionResult, suggestionTitle } from "./result_card";
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

describe("the card of a result", () => {
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
  it("says what a suggestion does", () => {
    const plain = {
      which: 0,
      constraint: "" as const,
      start: null,
      stop: null,
      falloff: null,
      sentence: "",
      reached: true,
      keys: 0,
      reachedM: 0,
      requiredM: 0,
      reachedRad: 0,
      requiredRad: 0,
      slipM: 0,
    };
    const title = (changes: Partial<SuggestionEntry>): string =>
      suggestionTitle({ ...plain, way: "release", what: [], ...changes });
    expect(title({ what: ["LeftFoot"], constraint: "foot", start: 1.2, stop: 1.85 })).toBe(
      "Let LeftFoot go, 1.20–1.85 s",
    );
    expect(title({ what: ["Hips"], constraint: "pin" })).toBe("Release the pin of Hips");
    expect(title({ what: ["Hand"], constraint: "hold", start: 0.5, stop: 0.5 })).toBe("Release Hand at 0.50 s");
    expect(title({ way: "widen", what: ["falloff"], falloff: 0.675 })).toBe("Widen the falloff to ± 0.68 s");
    expect(title({ way: "widen", what: ["Arm.euler.x"] })).toBe("Widen the limit of Arm.euler.x");
    expect(title({ way: "insert", what: ["Arm (euler)"], keys: 1 })).toBe("Add one key here");
    expect(title({ way: "insert", what: ["Arm (euler)"], keys: 0 })).toBe("Change the key here");
  });
  it("tells how the motion changed, and marks what was hardly meant", () => {
    const change = {
      askedM: 0.13,
      furthestM: 0.1316,
      start: 1.011,
      stop: 1.729,
      othersM: 0.0005,
      otherJoint: "Head",
      speedRatio: 1.004,
      accelerationRatio: 4.2,
      extraTurns: 0.02,
    };
    expect(changeLines(change, 1.7)).toEqual([
      { text: "Moves 13.2 cm for 13.0 cm asked", much: false },
      { text: "From 1.01 to 1.73 s", much: false },
      { text: "Elsewhere Head, 0.5 mm", much: false },
      { text: "Speed × 1.00, acceleration × 4.20", much: true },
    ]);
    expect(changeLines({ ...change, othersM: 0, extraTurns: 4.2 }, 1.7).slice(2)).toEqual([
      { text: "Nothing else moves", much: false },
      { text: "Speed × 1.00, acceleration × 4.20", much: true },
      { text: "A joint makes 4.2 turns more", much: true },
    ]);
  });
  it("says what was asked for and what was kept", () => {
    const block = { kind: "pin", target: "'Hips'", reachedM: 0.11, requiredM: 0.14, share: 1, sentence: "" };
    expect(blockedTitle({ blocks: [block] })).toBe("14.0 cm is too far, 11.0 cm was kept");
    expect(blockedTitle({ blocks: [{ ...block, reachedM: 0.14 }] })).toBe("Not everything can be kept");
    expect(blockedTitle({ blocks: [{ ...block, kind: "path" }] })).toBe("The goal is met, but not by a sane motion");
  });
});

describe("the falloff", () => {
  it("follows the wheel by equal factors, within bounds", () => {
    expect(wheelFalloff(0.4, -100)).toBeGreaterThan(0.4);
    expect(wheelFalloff(wheelFalloff(0.4, -100), 100)).toBeCloseTo(0.4, 9);
    expect(wheelFalloff(0.4, 1e6)).toBe(0.05);
    expect(wheelFalloff(0.4, -1e6)).toBe(10);
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
  // A point that goes to the right by 100 px a second, for four seconds, at ten frames a second.
  const times = Float32Array.from({ length: 41 }, (_, f) => f / 10);
  const path = Float32Array.from({ length: 123 }, (_, i) => (i % 3 ? 0 : (100 * i) / 30));
  const line = (x0: number, x1: number, y: number) =>
    Array.from({ length: 21 }, (_, i) => ({ x: x0 + ((x1 - x0) * i) / 20, y }));
  it("last as long as the point takes for a way of their length, around the current time", () => {
    const span = strokeSpan(line(0, 80, 300), path, times, 2);
    expect(span.stop - span.start).toBeCloseTo(0.8, 1);
    expect((span.start + span.stop) / 2).toBeCloseTo(2, 6);
    expect(span.reversed).toBe(false);
  });
  it("last 0.2 to 2 seconds, also where the point stands still, and stay within the clip", () => {
    const tiny = strokeSpan(line(0, 13, 300), path, times, 2);
    expect(tiny.stop - tiny.start).toBeCloseTo(0.2, 6);
    const long = strokeSpan(line(0, 900, 300), path, times, 2);
    expect(long.stop - long.start).toBeCloseTo(2, 1);
    const still = strokeSpan(line(0, 110, 300), new Float32Array(123), times, 2);
    expect(still.stop - still.start).toBeCloseTo(2, 1);
    const early = strokeSpan(line(0, 60, 300), path, times, 0);
    expect(early.start).toBe(0);
    expect(early.stop).toBeCloseTo(0.6, 1);
  });
  it("are meant for the part of the path that they are drawn along, in its direction", () => {
    const along = strokeSpan(line(240, 320, 8), path, times, 2);
    expect(along.start).toBeCloseTo(2.4, 1);
    expect(along.stop).toBeCloseTo(3.2, 1);
    const against = strokeSpan(line(320, 240, 8), path, times, 2);
    expect(against.reversed).toBe(true);
    expect(against.start).toBeCloseTo(2.4, 1);
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
