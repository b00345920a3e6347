import { describe, expect, it } from "vitest";
import { FRAME } from "../protocol/messages";
import {
  frameOf,
  nearestFrameTime,
  type Paths,
  positionAt,
  readPaths,
  relativeSpeeds,
  relativeToRoot,
  rotationAt,
  segmentOf,
  smoothPath,
} from "./paths";

interface Part {
  number: number;
  positions: number[];
  turns: number[];
  keyTimes: number[];
  keyPlaces: number[];
}

/** A frame of form 4, as studio/edit/curve_frames.py writes it. */
function message(first: number, total: number, times: number[], curves: Part[]): ArrayBuffer {
  const words: [number, boolean][] = [first, total, 0, 0].map((value) => [value, true]);
  const floats = (values: number[]) => words.push(...values.map((value): [number, boolean] => [value, false]));
  floats(times);
  for (const { number, positions, turns, keyTimes, keyPlaces } of curves) {
    words.push([number, true], [keyTimes.length, true]);
    for (const values of [positions, turns, keyTimes, keyPlaces]) floats(values);
  }
  const data = new ArrayBuffer(FRAME.header + 4 * words.length);
  const view = new DataView(data);
  view.setUint32(0, FRAME.magic, true);
  view.setUint32(4, FRAME.pathsStream, true);
  view.setUint32(12, FRAME.paths, true);
  view.setUint32(24, curves.length, true);
  view.setUint32(28, times.length, true);
  for (const [i, [value, whole]] of words.entries()) {
    if (whole) view.setUint32(FRAME.header + 4 * i, value, true);
    else view.setFloat32(FRAME.header + 4 * i, value, true);
  }
  return data;
}

const part = (number: number, frames: number, x: number): Part => ({
  number,
  positions: Array.from({ length: frames }, (_, f) => [x, f, 0]).flat(),
  turns: Array.from({ length: frames }, () => [0, 0, 0, 1]).flat(),
  keyTimes: [0.25],
  keyPlaces: [x, 0.5, 0],
});

describe("motion curves in frames", () => {
  it("are parsed whole", () => {
    const paths = readPaths(message(0, 3, [0, 0.5, 1], [part(7, 3, 1), part(9, 3, 2)]), null)!;
    expect([...paths.times]).toEqual([0, 0.5, 1]);
    expect([...paths.curves.keys()]).toEqual([7, 9]);
    expect([...paths.curves.get(9)!.positions]).toEqual([2, 0, 0, 2, 1, 0, 2, 2, 0]);
    expect([...paths.curves.get(7)!.keyPlaces]).toEqual([1, 0.5, 0]);
  });

  it("take the frames that change and keep the others", () => {
    const whole = readPaths(message(0, 4, [0, 1, 2, 3], [part(7, 4, 1)]), null);
    const patched = readPaths(message(1, 4, [1, 2], [part(7, 2, 5)]), whole)!;
    expect([...patched.curves.get(7)!.positions]).toEqual([1, 0, 0, 5, 0, 0, 5, 1, 0, 1, 3, 0]);
    expect([...patched.times]).toEqual([0, 1, 2, 3]);
  });

  it("are refused if a part has no curve to update", () => {
    const whole = readPaths(message(0, 4, [0, 1, 2, 3], [part(7, 4, 1)]), null);
    expect(readPaths(message(1, 4, [1, 2], [part(7, 2, 5)]), null)).toBeNull();
    expect(readPaths(message(1, 5, [1, 2], [part(7, 2, 5)]), whole)).toBeNull();
    expect(readPaths(message(1, 4, [1, 2], [part(8, 2, 5)]), whole)).toBeNull();
    expect(readPaths(new ArrayBuffer(64), null)).toBeNull();
  });

  it("drop curves that are no longer shown", () => {
    const both = readPaths(message(0, 2, [0, 1], [part(1, 2, 1), part(2, 2, 2)]), null);
    expect([...readPaths(message(0, 2, [0, 1], [part(2, 2, 2)]), both)!.curves.keys()]).toEqual([2]);
  });
});

describe("a path", () => {
  const times = Float32Array.from([0, 1, 3]);
  const curve = {
    curve: 1,
    positions: Float32Array.from([0, 0, 0, 2, 0, 0, 2, 4, 0]),
    turns: Float32Array.from([0, 0, 0, 1, 0, 0, 0, -1, 0, 1, 0, 0]),
    keyTimes: new Float32Array(),
    keyPlaces: new Float32Array(),
  };
  const paths: Paths = { times, curves: new Map([[1, curve]]) };

  it("finds its frames, also beyond its ends", () => {
    expect(frameOf(times, -1)).toEqual({ frame: 0, share: 0 });
    expect(frameOf(times, 2)).toEqual({ frame: 1, share: 0.5 });
    expect(frameOf(times, 9)).toEqual({ frame: 2, share: 0 });
    expect(frameOf(Float32Array.from([4]), 4)).toEqual({ frame: 0, share: 0 });
  });

  it("snaps to frames", () => {
    const frames = Float32Array.from([0, 0.5, 1]);
    expect([-1, 0.2, 0.3, 0.74, 0.76, 7].map((time) => nearestFrameTime(frames, time))).toEqual([0, 0, 0.5, 0.5, 1, 1]);
    expect(nearestFrameTime(new Float32Array(), 0.3)).toBe(0.3);
  });

  it("is linear between frames", () => {
    expect(positionAt(paths, curve, 0.5)).toEqual([1, 0, 0]);
    expect(positionAt(paths, curve, 2)).toEqual([2, 2, 0]);
  });

  it("turns the short way between frames", () => {
    expect(rotationAt(paths, curve, 0.5)).toEqual([0, 0, 0, 1]);
    expect(Math.hypot(...rotationAt(paths, curve, 2))).toBeCloseTo(1);
  });

  it("has speeds from 0 to 1, and 0 at rest", () => {
    const line = Float32Array.from({ length: 30 }, (_, i) => (i % 3 ? 0 : (i / 3) ** 2));
    const speeds = relativeSpeeds(
      line,
      Float32Array.from({ length: 10 }, (_, f) => f),
    );
    expect(Math.max(...speeds)).toBe(1);
    for (let f = 1; f < 8; f++) expect(speeds[f + 1]).toBeGreaterThanOrEqual(speeds[f]);
    expect([...relativeSpeeds(new Float32Array(9), times)]).toEqual([0, 0, 0]);
  });

  it("lies between the keys around a time", () => {
    expect(segmentOf([0.5, 1, 2], 1.5, 3)).toEqual({ start: 1, stop: 2 });
    expect(segmentOf([0.5, 1, 2], 1, 3)).toEqual({ start: 1, stop: 2 });
    expect(segmentOf([0.5], 0.2, 3)).toEqual({ start: 0, stop: 0.5 });
    expect(segmentOf([], 0.2, 3)).toEqual({ start: 0, stop: 3 });
  });

  it("is relative to the root, at its current position", () => {
    const root = { ...curve, positions: Float32Array.from([0, 0, 0, 1, 0, 0, 3, 0, 0]) };
    const keyed = { ...curve, keyTimes: Float32Array.from([1]), keyPlaces: Float32Array.from([2, 0, 0]) };
    const seen = relativeToRoot(paths, keyed, root, 1);
    expect([...seen.positions]).toEqual([1, 0, 0, 2, 0, 0, 0, 4, 0]);
    expect([...seen.keyPlaces]).toEqual([2, 0, 0]);
    const rootPositions = relativeToRoot(paths, root, root, 0).positions;
    expect([...rootPositions]).toEqual(new Array(9).fill(0));
  });

  it("is smooth through every frame, and a line stays a line", () => {
    const smooth = smoothPath(curve.positions, 3, 4);
    for (let f = 0; f < 3; f++)
      expect([...smooth.subarray(12 * f, 12 * f + 3)]).toEqual([...curve.positions.subarray(3 * f, 3 * f + 3)]);
    const line = smoothPath([0, 1, 2, 3, 4], 1, 5);
    for (let i = 5; i <= 15; i++) expect(line[i]).toBeCloseTo(i / 5, 6);
    expect(smooth.length).toBe(3 * 9);
    expect([...smoothPath([1, 2], 1, 1)]).toEqual([1, 2]);
  });
});
