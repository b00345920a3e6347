/** Picking on the map: the training frame nearest to the pointer on the screen, front before back. */

/** Column-major 4 x 4, as in three. */
export type Matrix = ArrayLike<number>;

/**
 * The index of the point nearest to (x, y) in CSS pixels, within `reach`; -1 without one. Of points that are about
 * equally near on the screen the one in front wins: one pixel counts as much as one unit of depth.
 */
export function nearestPoint(
  points: Float32Array,
  clipFromWorld: Matrix,
  width: number,
  height: number,
  x: number,
  y: number,
  reach: number,
): number {
  const m = clipFromWorld;
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < points.length / 3; i++) {
    const [px, py, pz] = [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
    const w = m[3] * px + m[7] * py + m[11] * pz + m[15];
    if (w <= 0) continue;
    const sx = ((m[0] * px + m[4] * py + m[8] * pz + m[12]) / w + 1) * 0.5 * width;
    const sy = (1 - (m[1] * px + m[5] * py + m[9] * pz + m[13]) / w) * 0.5 * height;
    const distance = Math.hypot(sx - x, sy - y);
    if (distance > reach) continue;
    const cost = distance + w;
    if (cost < least) {
      least = cost;
      best = i;
    }
  }
  return best;
}
