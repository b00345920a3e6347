/** Projection of world points to the canvas, and rays through the canvas. */
import { Matrix4, type PerspectiveCamera, Plane, type Ray, Raycaster, Vector2, Vector3 } from "three";
import type { View } from "./api";
import { eyePosition } from "./orbit";

/** Places the camera at a view, with near and far planes around the character. */
export function placeCamera(
  camera: PerspectiveCamera,
  view: View,
  aspect: number,
  bounds: { centre: Vector3; radius: number },
): void {
  camera.aspect = aspect;
  camera.position.copy(eyePosition(view));
  camera.lookAt(...view.target);
  const away = camera.position.distanceTo(bounds.centre);
  camera.near = Math.max(0.01 * bounds.radius, 0.5 * (away - 2 * bounds.radius));
  camera.far = away + 14 * bounds.radius;
  camera.updateProjectionMatrix();
  camera.updateMatrixWorld();
}

/**
 * The ray through a point of the image (0 to 1, right and down), and its point after `share` of the distance to the
 * target.
 */
export function rayThrough(
  u: number,
  v: number,
  camera: PerspectiveCamera,
  view: View,
  share: number,
): { ray: Ray; point: [number, number, number] } {
  const caster = new Raycaster();
  caster.setFromCamera(new Vector2(2 * u - 1, 1 - 2 * v), camera);
  const facing = camera.getWorldDirection(new Vector3());
  const through = new Vector3(...view.target).addScaledVector(facing, (share - 1) * view.distance);
  const point = new Vector3();
  caster.ray.intersectPlane(new Plane().setFromNormalAndCoplanarPoint(facing, through), point);
  return { ray: caster.ray.clone(), point: [point.x, point.y, point.z] };
}

/**
 * Projects points, three numbers each: x and y in CSS px from the upper left corner, and the depth from -1 (near) to 1
 * (far).
 */
export function projectPoints(
  points: Float32Array,
  camera: PerspectiveCamera,
  width: number,
  height: number,
): Float32Array {
  const m = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse).elements;
  const result = new Float32Array(points.length);
  for (let i = 0; i < points.length; i += 3) {
    const [x, y, z] = [points[i], points[i + 1], points[i + 2]];
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    result[i] = ((1 + (m[0] * x + m[4] * y + m[8] * z + m[12]) / w) * width) / 2;
    result[i + 1] = ((1 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w) * height) / 2;
    result[i + 2] = w > 0 ? (m[2] * x + m[6] * y + m[10] * z + m[14]) / w : Infinity;
  }
  return result;
}

/** The position of a world point on a canvas, and whether it is visible. */
export function projectPoint(
  point: readonly [number, number, number],
  camera: PerspectiveCamera,
  width: number,
  height: number,
): { x: number; y: number; visible: boolean } {
  const p = new Vector3(...point).project(camera);
  const visible = Math.abs(p.x) <= 1 && Math.abs(p.y) <= 1 && Math.abs(p.z) <= 1;
  return { x: ((p.x + 1) * width) / 2, y: ((1 - p.y) * height) / 2, visible };
}
