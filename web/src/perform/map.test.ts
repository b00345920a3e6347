/** The arithmetic of the map: parsing, positions, moments, picking, and the particle between reports. */
import { PerspectiveCamera, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { type LatentMap, mapPosition, momentOf, readMap } from "./map_file";
import { nearestPoint } from "./map_picking";
import { boundsOf } from "./map_view";
import { type Place, Trail } from "./trail";

function label(name: string, centre: [number, number, number], radius: number) {
  return {
    label: name,
    frames: 3,
    matrix: [
      [1, 0, 0],
      [0, 2, 0],
      [0, 0, 1],
    ],
    offset: [10, 0, -1],
    centre,
    radius,
    home: 0,
    dust: 1,
  };
}

function bytes(): ArrayBuffer {
  const header = {
    rate: 24,
    labels: [label("calm", [0, 0, 0], 1), label("wild", [4, 1, 0], 2)],
    clips: [
      { clip: "a", label: 0, first: 0, count: 3 },
      { clip: "b ü", label: 1, first: 3, count: 2 },
    ],
    pairs: [{ first: 0, second: 1, begin: 0, count: 1, near: 0.5 }],
    points: 5,
    bridges: 1,
    dust: 2,
  };
  let text = new TextEncoder().encode(JSON.stringify(header));
  text = new Uint8Array([...text, ...Array((4 - (text.length % 4)) % 4).fill(32)]);
  const numbers = Float32Array.from({ length: 5 * 3 + 6 + 2 * 4 }, (_, i) => i);
  const data = new Uint8Array(4 + text.length + numbers.byteLength);
  new DataView(data.buffer).setUint32(0, text.length, true);
  data.set(text, 4);
  data.set(new Uint8Array(numbers.buffer), 4 + text.length);
  return data.buffer;
}

describe("the map's file", () => {
  const map: LatentMap = readMap(bytes());
  it("has points, bridges and dust one after the other", () => {
    expect([...map.points]).toEqual(Array.from({ length: 15 }, (_, i) => i));
    expect(map.bridges[0]).toBe(15);
    expect([...map.dust]).toEqual([21, 22, 23, 24, 25, 26, 27, 28]);
  });
  it("maps a point to its moment", () => {
    expect(momentOf(map, 2)).toEqual({ point: 2, clip: "a", label: "calm", seconds: 2 / 24 });
    expect(momentOf(map, 4)).toEqual({ point: 4, clip: "b ü", label: "wild", seconds: 1 / 24 });
    expect(momentOf(map, 5)).toBeNull();
  });
  it("positions a latent point, also of fewer dimensions", () => {
    expect(mapPosition(map.labels[0], [1, 2, 3])).toEqual([11, 4, 2]);
    expect(mapPosition(map.labels[0], [1])).toEqual([11, 0, -1]);
  });
  it("is bounded by the labels' spheres", () => {
    expect(boundsOf(map)).toEqual({ middle: [2.5, 1, 0], half: [3.5, 2, 2] });
    expect(boundsOf(null).half).toEqual([1, 1, 1]);
  });
  it("is refused if it is cut off", () => {
    expect(() => readMap(bytes().slice(0, -8))).toThrow();
  });
});

describe("picking", () => {
  const camera = new PerspectiveCamera(40, 2, 0.1, 100);
  camera.position.set(1, 2, 8);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  const clip = camera.projectionMatrix.clone().multiply(camera.matrixWorldInverse);
  const points = new Float32Array([0, 0, 0, 1, 0.5, -1, -1, 0.2, 0.5, 0, 0, 12]);
  const screen = (i: number): { x: number; y: number } => {
    const at = new Vector3(...points.subarray(3 * i, 3 * i + 3)).applyMatrix4(clip);
    return { x: (at.x + 1) * 200, y: (1 - at.y) * 100 };
  };
  it("finds the point under the pointer, as three projects it", () => {
    for (const i of [0, 1, 2]) {
      const { x, y } = screen(i);
      expect(nearestPoint(points, clip.elements, 400, 200, x + 2, y - 1, 10)).toBe(i);
    }
  });
  it("finds none far from all points, and none behind the camera", () => {
    expect(nearestPoint(points, clip.elements, 400, 200, 5, 5, 10)).toBe(-1);
    const { x, y } = screen(3);
    expect(nearestPoint(points, clip.elements, 400, 200, x, y, 1)).not.toBe(3);
  });
  it("prefers points in front", () => {
    const eye = new Vector3(1, 2, 8);
    const far = new Vector3(0, 0, 0);
    const near = eye.clone().lerp(far, 0.5);
    const both = new Float32Array([...far.toArray(), ...near.toArray()]);
    expect(nearestPoint(both, clip.elements, 400, 200, 200, 100, 5)).toBe(1);
  });
});

describe("the particle", () => {
  it("moves evenly between two reports, with a delay", () => {
    const trail = new Trail();
    trail.add(1000, [0, 0, 0], 1);
    trail.add(1050, [1, 2, 0], 0.5);
    expect(trail.sampleAt(1000)?.place).toEqual([0, 0, 0]);
    expect(trail.sampleAt(1100)?.place).toEqual([0.5, 1, 0]);
    expect(trail.sampleAt(1100)?.weight).toBeCloseTo(0.75);
    expect(trail.sampleAt(2000)?.place).toEqual([1, 2, 0]);
    expect(new Trail().sampleAt(0)).toBeNull();
  });
  it("has a tail that begins at its head, fades and ends", () => {
    const trail = new Trail();
    for (let i = 0; i <= 60; i++) trail.add(50 * i, [0.01 * i, 0, 0], 1);
    const tail = trail.tail(3000);
    expect(tail[0].to).toEqual(trail.sampleAt(3000)?.place);
    for (let i = 1; i < tail.length; i++) {
      expect(tail[i].to).toEqual(tail[i - 1].from);
      expect(tail[i].fresh).toBeLessThan(tail[i - 1].fresh);
      expect(tail[i].bridge).toBe(false);
    }
    expect(tail.length).toBeGreaterThan(15);
    expect(tail.length).toBeLessThan(25);
    expect(trail.isResting(3100)).toBe(false);
    expect(trail.isResting(5000)).toBe(true);
    expect(trail.tail(5000)).toEqual([]);
  });
  it("distinguishes bridges from paths", () => {
    const trail = new Trail();
    const places: Place[] = [
      [0, 0, 0],
      [0.01, 0, 0],
      [3, 0, 0],
      [3.01, 0, 0],
    ];
    for (const [i, place] of places.entries()) trail.add(50 * i, place, 1);
    expect(trail.tail(225).map((segment) => segment.bridge)).toContain(true);
    expect(trail.tail(225).filter((segment) => segment.bridge)).toHaveLength(1);
  });
  it("drops old samples", () => {
    const trail = new Trail();
    for (let i = 0; i < 10000; i++) trail.add(50 * i, [i, 0, 0], 1);
    expect((trail as unknown as { samples: unknown[] }).samples.length).toBeLessThan(40);
  });
});
