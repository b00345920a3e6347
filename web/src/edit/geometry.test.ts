import { Quaternion, Ray, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { AXES, alongAxis, angleAbout, factorOf, nearestOn, onPlane, turnedBy } from "./geometry";

const ray = (from: [number, number, number], to: [number, number, number]): Ray =>
  new Ray(new Vector3(...from), new Vector3(...to).sub(new Vector3(...from)).normalize());

describe("a pointer in space", () => {
  it("meets a plane, unless it runs beside it", () => {
    const hit = onPlane(ray([0, 0, 5], [1, 2, 0]), new Vector3(), AXES.z)!;
    expect(hit.distanceTo(new Vector3(1, 2, 0))).toBeLessThan(1e-9);
    expect(onPlane(ray([0, 0, 5], [1, 0, 5]), new Vector3(), AXES.z)).toBeNull();
  });

  it("says how far along an axis it is: the nearest place of all", () => {
    const [pointer, origin, axis] = [
      ray([3, 4, 5], [1, 0, -1]),
      new Vector3(0, 1, 0),
      new Vector3(1, 2, 2).normalize(),
    ];
    const s = alongAxis(pointer, origin, axis)!;
    const distance = (t: number): number =>
      Math.sqrt(pointer.distanceSqToPoint(origin.clone().addScaledVector(axis, t)));
    for (const step of [-1e-3, 1e-3]) expect(distance(s)).toBeLessThan(distance(s + step));
    expect(alongAxis(ray([0, 5, 0], [0, 0, 0]), new Vector3(1, 0, 0), AXES.y)).toBeNull();
  });

  it("goes through the place on the axis that it points at", () => {
    expect(alongAxis(ray([0, 0, 9], [0, 3, 0]), new Vector3(), AXES.y)).toBeCloseTo(3);
  });

  it("turns about an axis with the right hand", () => {
    expect(angleAbout(AXES.y, new Vector3(), new Vector3(0, 7, 1), new Vector3(1, -2, 0))).toBeCloseTo(Math.PI / 2);
    expect(angleAbout(AXES.z, new Vector3(1, 1, 0), new Vector3(2, 1, 0), new Vector3(1, 0, 0))).toBeCloseTo(
      -Math.PI / 2,
    );
  });

  it("turns the point in the world, after what it had", () => {
    const before = new Quaternion().setFromAxisAngle(AXES.x, 0.4);
    const after = new Quaternion(...turnedBy(before.toArray(), AXES.y, 0.3));
    const v = new Vector3(0.3, -1, 2);
    const expected = v.clone().applyQuaternion(before).applyAxisAngle(AXES.y, 0.3);
    expect(v.clone().applyQuaternion(after).distanceTo(expected)).toBeLessThan(1e-9);
  });
});

describe("timing by hand", () => {
  it("is as much faster to one side as slower to the other, and bounded", () => {
    expect(factorOf(0)).toBe(1);
    expect(factorOf(60) * factorOf(-60)).toBeCloseTo(1);
    expect(factorOf(1e6)).toBe(8);
    expect(factorOf(-1e6)).toBe(0.125);
  });
});

describe("the nearest place of a piece of path", () => {
  it("is within the piece", () => {
    expect(nearestOn(5, 3, 0, 0, 10, 0)).toEqual({ distance: 3, share: 0.5 });
    expect(nearestOn(-4, 3, 0, 0, 10, 0)).toEqual({ distance: 5, share: 0 });
    expect(nearestOn(1, 1, 1, 1, 1, 1)).toEqual({ distance: 0, share: 0 });
  });
});
