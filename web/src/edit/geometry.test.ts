import { Quaternion, Ray, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { AXES, angleAbout, axisParameter, intersectPlane, nearestOnSegment, rotateBy, timeFactor } from "./geometry";

const ray = (from: [number, number, number], to: [number, number, number]): Ray =>
  new Ray(new Vector3(...from), new Vector3(...to).sub(new Vector3(...from)).normalize());

describe("a pointer in space", () => {
  it("meets a plane, unless they are parallel", () => {
    const hit = intersectPlane(ray([0, 0, 5], [1, 2, 0]), new Vector3(), AXES.z)!;
    expect(hit.distanceTo(new Vector3(1, 2, 0))).toBeLessThan(1e-9);
    expect(intersectPlane(ray([0, 0, 5], [1, 0, 5]), new Vector3(), AXES.z)).toBeNull();
  });

  it("gives the nearest point of an axis", () => {
    const [pointer, origin, axis] = [
      ray([3, 4, 5], [1, 0, -1]),
      new Vector3(0, 1, 0),
      new Vector3(1, 2, 2).normalize(),
    ];
    const s = axisParameter(pointer, origin, axis)!;
    const distance = (t: number): number =>
      Math.sqrt(pointer.distanceSqToPoint(origin.clone().addScaledVector(axis, t)));
    for (const step of [-1e-3, 1e-3]) expect(distance(s)).toBeLessThan(distance(s + step));
    expect(axisParameter(ray([0, 5, 0], [0, 0, 0]), new Vector3(1, 0, 0), AXES.y)).toBeNull();
  });

  it("passes through the point of the axis that it points at", () => {
    expect(axisParameter(ray([0, 0, 9], [0, 3, 0]), new Vector3(), AXES.y)).toBeCloseTo(3);
  });

  it("turns about an axis by the right-hand rule", () => {
    expect(angleAbout(AXES.y, new Vector3(), new Vector3(0, 7, 1), new Vector3(1, -2, 0))).toBeCloseTo(Math.PI / 2);
    expect(angleAbout(AXES.z, new Vector3(1, 1, 0), new Vector3(2, 1, 0), new Vector3(1, 0, 0))).toBeCloseTo(
      -Math.PI / 2,
    );
  });

  it("turns the point in the world, after its own rotation", () => {
    const before = new Quaternion().setFromAxisAngle(AXES.x, 0.4);
    const after = new Quaternion(...rotateBy(before.toArray(), AXES.y, 0.3));
    const v = new Vector3(0.3, -1, 2);
    const expected = v.clone().applyQuaternion(before).applyAxisAngle(AXES.y, 0.3);
    expect(v.clone().applyQuaternion(after).distanceTo(expected)).toBeLessThan(1e-9);
  });
});

describe("timing by dragging", () => {
  it("is as much faster to one side as slower to the other, and bounded", () => {
    expect(timeFactor(0)).toBe(1);
    expect(timeFactor(60) * timeFactor(-60)).toBeCloseTo(1);
    expect(timeFactor(1e6)).toBe(8);
    expect(timeFactor(-1e6)).toBe(0.125);
  });
});

describe("the nearest point of a segment", () => {
  it("is within the segment", () => {
    expect(nearestOnSegment(5, 3, 0, 0, 10, 0)).toEqual({ distance: 3, share: 0.5 });
    expect(nearestOnSegment(-4, 3, 0, 0, 10, 0)).toEqual({ distance: 5, share: 0 });
    expect(nearestOnSegment(1, 1, 1, 1, 1, 1)).toEqual({ distance: 0, share: 0 });
  });
});
