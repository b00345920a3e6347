/** The camera as a target and two angles: how turning, moving and zooming change the view. No DOM. */
import { Vector3 } from "three";
import type { View } from "./api";

export const INITIAL_VIEW: View = { target: [0, 1, 0], azimuth: 0.42, elevation: 0.1, distance: 5 };
export const CROWD_ANGLES = { azimuth: 0.15, elevation: 0.34 }; // radians: high enough to see the rows behind
export const EMPTY_BOUNDS: [number, number, number][] = [
  [-0.5, 0, -0.5],
  [0.5, 1, 0.5],
]; // bounds of an empty stage, m
export const FOV_DEGREES = 26; // vertical; a long lens, for faces
const MARGIN = 1.06; // around a framed box
const MAX_ELEVATION = Math.PI / 2 - 0.01;

export interface Limits {
  nearest: number; // metres
  farthest: number;
}

/** The position of the camera. */
export function eyePosition(view: View): Vector3 {
  const { azimuth, elevation, distance } = view;
  const out = new Vector3(
    Math.sin(azimuth) * Math.cos(elevation),
    Math.sin(elevation),
    Math.cos(azimuth) * Math.cos(elevation),
  );
  return out.multiplyScalar(distance).add(new Vector3(...view.target));
}

/** Turns the view by a drag in pixels; a drag over the height of the canvas is half a turn. */
export function orbitView(view: View, dx: number, dy: number, height: number): View {
  const scale = Math.PI / Math.max(1, height);
  const elevation = Math.min(Math.max(view.elevation + dy * scale, -MAX_ELEVATION), MAX_ELEVATION);
  return { ...view, azimuth: wrapAngle(view.azimuth - dx * scale), elevation };
}

/** Moves the view parallel to the screen by a drag in pixels; the point under the pointer stays under it. */
export function panView(view: View, dx: number, dy: number, height: number): View {
  const metres = (2 * view.distance * Math.tan((FOV_DEGREES * Math.PI) / 360)) / Math.max(1, height);
  const { right, up } = axes(view);
  const target = new Vector3(...view.target).addScaledVector(right, -dx * metres).addScaledVector(up, dy * metres);
  return { ...view, target: [target.x, target.y, target.z] };
}

/**
 * Scales the distance by a factor, towards a point of the canvas (`x` and `y` from -1 to 1, right and up). The point
 * under the pointer stays under it, as in Blender with "zoom to mouse position".
 */
export function zoomView(view: View, factor: number, limits: Limits, x = 0, y = 0, aspect = 1): View {
  const distance = Math.min(Math.max(view.distance * factor, limits.nearest), limits.farthest);
  const { right, up } = axes(view);
  const reach = (view.distance - distance) * Math.tan((FOV_DEGREES * Math.PI) / 360);
  const target = new Vector3(...view.target).addScaledVector(right, x * aspect * reach).addScaledVector(up, y * reach);
  return { ...view, distance, target: [target.x, target.y, target.z] };
}

/** The nearest view in the same direction that shows a whole box, centred. */
export function frameBox(view: View, low: Vector3, high: Vector3, aspect: number): View {
  const { right, up } = axes(view);
  const back = eyePosition({ ...view, target: [0, 0, 0], distance: 1 });
  const centre = low.clone().add(high).multiplyScalar(0.5);
  const slope = Math.tan((FOV_DEGREES * Math.PI) / 360);
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

/** The same with a margin around the box, and a distance of at least `least`. */
export function frameBoxWithMargin(
  view: View,
  box: { low: Vector3; high: Vector3 },
  aspect: number,
  room = 1,
  least = 0,
): View {
  const framed = frameBox(view, box.low, box.high, aspect);
  return { ...framed, distance: Math.max(least, MARGIN * room * framed.distance) };
}

/** Interpolates two views; angles take the short way. */
export function interpolateView(from: View, to: View, t: number): View {
  const mix = (a: number, b: number): number => a + (b - a) * t;
  const target = from.target.map((value, i) => mix(value, to.target[i])) as [number, number, number];
  return {
    target,
    azimuth: from.azimuth + t * wrapAngle(to.azimuth - from.azimuth),
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

function wrapAngle(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}
