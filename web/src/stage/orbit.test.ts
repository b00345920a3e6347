import { PerspectiveCamera, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import type { View } from "./api";
import { eyePosition, FOV_DEGREES, frameBox, interpolateView, orbitView, panView, zoomView } from "./orbit";

const view: View = { target: [0.2, 1, -0.4], azimuth: 0.7, elevation: 0.3, distance: 4 };

function camera(of: View, aspect = 1.5): PerspectiveCamera {
  const perspective = new PerspectiveCamera(FOV_DEGREES, aspect, 0.1, 100);
  perspective.position.copy(eyePosition(of));
  perspective.lookAt(...of.target);
  perspective.updateMatrixWorld();
  return perspective;
}

describe("the camera", () => {
  it("keeps its distance while it turns, and never goes over the top", () => {
    const after = orbitView(view, 130, 4000, 600);
    expect(eyePosition(after).distanceTo(new Vector3(...view.target))).toBeCloseTo(4, 9);
    expect(after.elevation).toBeLessThan(Math.PI / 2);
    expect(orbitView(view, 1e5, 0, 600).azimuth).toBeLessThanOrEqual(Math.PI);
  });

  it("moves with the point under the pointer", () => {
    const height = 600;
    const before = new Vector3(...view.target).project(camera(view));
    const after = new Vector3(...view.target).project(camera(panView(view, 60, -30, height)));
    expect(((after.x - before.x) / 2) * height * 1.5).toBeCloseTo(60, 3);
    expect(((after.y - before.y) / 2) * height).toBeCloseTo(30, 3);
  });

  it("zooms towards the pointer", () => {
    const [x, y] = [0.4, -0.3];
    const near = camera(view);
    const point = new Vector3(x, y, 0.5).unproject(near).sub(near.position);
    const facing = near.getWorldDirection(new Vector3());
    point.multiplyScalar(4 / point.dot(facing)).add(near.position); // in the plane of the target
    const after = point.project(camera(zoomView(view, 0.6, { nearest: 0.1, farthest: 50 }, x, y, 1.5)));
    expect(after.x).toBeCloseTo(x, 5);
    expect(after.y).toBeCloseTo(y, 5);
  });

  it("zooms no further than its limits", () => {
    expect(zoomView(view, 1e-6, { nearest: 0.5, farthest: 9 }).distance).toBe(0.5);
    expect(zoomView(view, 1e6, { nearest: 0.5, farthest: 9 }).distance).toBe(9);
  });

  it("frames a whole box, up to its edge", () => {
    for (const aspect of [0.5, 1, 2.2]) {
      const [low, high] = [new Vector3(-1, 0, -0.3), new Vector3(1, 3, 0.6)];
      const seen = camera(frameBox(view, low, high, aspect), aspect);
      let most = 0;
      for (let i = 0; i < 8; i++) {
        const p = new Vector3(i & 1 ? 1 : -1, i & 2 ? 3 : 0, i & 4 ? 0.6 : -0.3).project(seen);
        most = Math.max(most, Math.abs(p.x), Math.abs(p.y));
      }
      expect(most).toBeCloseTo(1, 6);
    }
  });

  it("turns the short way", () => {
    const to = { ...view, azimuth: -3, distance: 1 };
    const half = interpolateView({ ...view, azimuth: 3 }, to, 0.5);
    expect(Math.abs(half.azimuth)).toBeGreaterThan(3);
    expect(half.distance).toBeCloseTo(2, 9);
  });
});
