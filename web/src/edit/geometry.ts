/** Pointer motion in space: moves along a plane or an axis, rotations about an axis. */
import { Plane, Quaternion, type Ray, Vector3 } from "three";

export type Triple = [number, number, number];
export type Axis = "x" | "y" | "z";

export const AXES: Record<Axis, Vector3> = {
  x: new Vector3(1, 0, 0),
  y: new Vector3(0, 1, 0),
  z: new Vector3(0, 0, 1),
};

export const triple = (v: Vector3): Triple => [v.x, v.y, v.z];
export const vector = (p: ArrayLike<number>): Vector3 => new Vector3(p[0], p[1], p[2]);

/** Where a ray meets the plane through a point with this normal; null if they are parallel. */
export function intersectPlane(ray: Ray, through: Vector3, normal: Vector3): Vector3 | null {
  if (Math.abs(ray.direction.dot(normal)) < 1e-4) return null;
  return ray.intersectPlane(new Plane().setFromNormalAndCoplanarPoint(normal, through), new Vector3());
}

/**
 * The parameter s of the point on a line through `origin` that is nearest to a ray. With r the ray's direction, a the
 * line's and w from the ray's origin to the line's,
 *
 *     s = ((a.r)(r.w) - (a.w)) / (1 - (a.r)^2)
 *
 * Null if the two are parallel.
 */
export function axisParameter(ray: Ray, origin: Vector3, axis: Vector3): number | null {
  const w = origin.clone().sub(ray.origin);
  const ar = axis.dot(ray.direction);
  const below = 1 - ar * ar;
  return below < 1e-4 ? null : (ar * ray.direction.dot(w) - axis.dot(w)) / below;
}

/** The angle from one point to another about an axis through a centre, -pi to pi. */
export function angleAbout(axis: Vector3, centre: Vector3, from: Vector3, to: Vector3): number {
  const flat = (p: Vector3): Vector3 => p.clone().sub(centre).projectOnPlane(axis);
  const [a, b] = [flat(from), flat(to)];
  return Math.atan2(a.clone().cross(b).dot(axis), a.dot(b));
}

/** The quaternion `turn`, then rotated by an angle about a world axis. */
export function rotateBy(turn: ArrayLike<number>, axis: Vector3, angle: number): [number, number, number, number] {
  const q = new Quaternion().setFromAxisAngle(axis, angle).multiply(new Quaternion(turn[0], turn[1], turn[2], turn[3]));
  return [q.x, q.y, q.z, q.w];
}

/** The time factor of a drag in pixels: a hundred pixels are a factor of about 2.3. */
export function timeFactor(pixels: number): number {
  return Math.min(8, Math.max(0.125, Math.exp(pixels / 120)));
}

/** The distance of a screen point from a segment, and the share of the segment at its nearest point. */
export function nearestOnSegment(
  x: number,
  y: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): { distance: number; share: number } {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const share = length < 1e-9 ? 0 : Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length));
  return { distance: Math.hypot(x - ax - share * dx, y - ay - share * dy), share };
}
