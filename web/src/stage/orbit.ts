/** The camera's place, as a target and two angles: what turning, moving and zooming do to it, without a page. */
import { Vector3 } from "three";
import type { View } from "./api";

export const OPENING: View = { target: [0, 1, 0], azimuth: 0.42, elevation: 0.1, distance: 5 };
export const CROWD_ANGLES = { azimuth: 0.15, elevation: 0.34 }; // radians: high enough to see the rows behind
export const EMPTY: [number, number, number][] = [
  [-0.5, 0, -0.5],
  [0.5, 1, 0.5],
]; // the room of an empty stage, m
export const FOV = 26; // degrees, vertical: long enough for faces
const ROOM = 1.06; // around what is framed
const STEEPEST = Math.PI / 2 - 0.01;

export interface Limits {
  nearest: number; // metres
  farthest: number;
}

/** Where the camera stands. */
export function eye(view: View): Vector3 {
  const { azimuth, elevation, distance } = view;
  const out = new Vector3(
    Math.sin(azimuth) * Math.cos(elevation),
    Math.sin(elevation),
    Math.cos(azimuth) * Math.cos(elevation),
  );
  return out.multiplyScalar(distance).add(new Vector3(...view.target));
}

/** Turned by a drag of so many pixels; a drag over the height of the view is half a turn. */
export function turned(view: View, dx: number, dy: number, height: number): View {
  const scale = Math.PI / Math.max(1, height);
  const elevation = Math.min(Math.max(view.elevation + dy * scale, -STEEPEST), STEEPEST);
  return { ...view, azimuth: wrapped(view.azimuth - dx * scale), elevation };
}

/** Moved along the screen by a drag of so many pixels: the point under the pointer stays under it. */
export function moved(view: View, dx: number, dy: number, height: number): View {
  const metres = (2 * view.distance * Math.tan((FOV * Math.PI) / 360)) / Math.max(1, height);
  const { right, up } = axes(view);
  const target = new Vector3(...view.target).addScaledVector(right, -dx * metres).addScaledVector(up, dy * metres);
  return { ...view, target: [target.x, target.y, target.z] };
}

/**
 * Nearer by a factor below 1, towards a point of the view: `x` and `y` from -1 to 1, right and up. The point under the
 * pointer stays under it, as in Blender with "zoom to mouse position".
 */
export function zoomed(view: View, factor: number, limits: Limits, x = 0, y = 0, aspect = 1): View {
  const distance = Math.min(Math.max(view.distance * factor, limits.nearest), limits.farthest);
  const { right, up } = axes(view);
  const reach = (view.distance - distance) * Math.tan((FOV * Math.PI) / 360);
  const target = new Vector3(...view.target).addScaledVector(right, x * aspect * reach).addScaledVector(up, y * reach);
  return { ...view, distance, target: [target.x, target.y, target.z] };
}

/** The nearest view along the same direction that shows a box whole, with the box in the middle of the picture. */
export function framed(view: View, low: Vector3, high: Vector3, aspect: number): View {
  const { right, up } = axes(view);
  const back = eye({ ...view, target: [0, 0, 0], distance: 1 });
  const centre = low.clone().add(high).multiplyScalar(0.5);
  const slope = Math.tan((FOV * Math.PI) / 360);
  let distance = 0;
  for (let corner = 0; corner < 8; corner++) {
    const p = new Vector3(corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z).sub(
      centre,
    );
    const [x, y, near] = [p.dot(right), p.dot(up), p.dot(back)];
    distance = Math.max(distance, near + Math.abs(x) / (slope * aspect), near + Math.abs(y) / slope);
  }
  return { ...view, target: [centre.x, centre.y, centre.z], distance: Math.max(distance, 1e-4) };
}

/** The same, with some room around the box, and not nearer than `least`. */
export function framedIn(view: View, box: { low: Vector3; high: Vector3 }, aspect: number, room = 1, least = 0): View {
  const found = framed(view, box.low, box.high, aspect);
  return { ...found, distance: Math.max(least, ROOM * room * found.distance) };
}

/** Between two views: angles the short way round. */
export function between(from: View, to: View, t: number): View {
  const mix = (a: number, b: number): number => a + (b - a) * t;
  const target = from.target.map((value, i) => mix(value, to.target[i])) as [number, number, number];
  return {
    target,
    azimuth: from.azimuth + t * wrapped(to.azimuth - from.azimuth),
    elevation: mix(from.elevation, to.elevation),
    distance: from.distance * (to.distance / from.distance) ** t,
  };
}

function axes(view: View): { right: Vector3; up: Vector3 } {
  const { azimuth: a, elevation: e } = view;
  return {
    right: new Vector3(Math.cos(a), 0, -Math.sin(a)),
    up: new Vector3(-Math.sin(a) * Math.sin(e), Math.cos(e), -Math.cos(a) * Math.sin(e)),
  };
}

function wrapped(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}
