/**
 * Vertex normals of a moving surface: the normalised sum of the normals of the adjacent triangles, weighted by area.
 */
export class Shading {
  private readonly total: Float32Array;

  /** `corners` are three vertices for each triangle; vertices with the same index in `seams` share their normal. */
  constructor(
    private readonly corners: Uint32Array,
    private readonly seams: Uint32Array,
  ) {
    this.total = new Float32Array(3 * (seams.reduce((most, seam) => Math.max(most, seam), -1) + 1));
  }

  /**
   * Writes the normals of `points` into `out`, three numbers for each vertex; up for vertices without area around them.
   */
  write(points: Float32Array, out: Float32Array): void {
    this.gather(points);
    const { seams, total } = this;
    for (let i = 0; i < total.length; i += 3) {
      const length = Math.sqrt(total[i] ** 2 + total[i + 1] ** 2 + total[i + 2] ** 2); // `hypot` is slow
      if (length > 0) {
        total[i] /= length;
        total[i + 1] /= length;
        total[i + 2] /= length;
      } else total[i + 1] = 1;
    }
    for (let v = 0, to = 0; v < seams.length; v++) {
      const from = 3 * seams[v];
      out[to++] = total[from];
      out[to++] = total[from + 1];
      out[to++] = total[from + 2];
    }
  }

  /** Sums the triangles' cross products; their length is twice the area. */
  private gather(points: Float32Array): void {
    const { corners, seams, total } = this;
    total.fill(0);
    for (let t = 0; t < corners.length; t += 3) {
      const a = corners[t];
      const b = corners[t + 1];
      const c = corners[t + 2];
      const px = points[3 * a];
      const py = points[3 * a + 1];
      const pz = points[3 * a + 2];
      const ux = points[3 * b] - px;
      const uy = points[3 * b + 1] - py;
      const uz = points[3 * b + 2] - pz;
      const vx = points[3 * c] - px;
      const vy = points[3 * c + 1] - py;
      const vz = points[3 * c + 2] - pz;
      const x = uy * vz - uz * vy;
      const y = uz * vx - ux * vz;
      const z = ux * vy - uy * vx;
      const i = 3 * seams[a];
      const j = 3 * seams[b];
      const k = 3 * seams[c];
      total[i] += x;
      total[i + 1] += y;
      total[i + 2] += z;
      total[j] += x;
      total[j + 1] += y;
      total[j + 2] += z;
      total[k] += x;
      total[k + 1] += y;
      total[k + 2] += z;
    }
  }
}
