import { describe, expect, it } from "vitest";
import { Shading } from "./shading";

/** A sphere of rings and columns; the last column coincides with the first. */
function ball(rings: number, columns: number): { points: number[]; corners: number[]; seams: number[] } {
  const [points, corners, seams]: number[][] = [[], [], []];
  for (let i = 0; i <= rings; i++)
    for (let j = 0; j <= columns; j++) {
      const [a, b] = [(Math.PI * (i + 0.5)) / (rings + 1), (2 * Math.PI * (j % columns)) / columns];
      points.push(Math.sin(a) * Math.cos(b), Math.cos(a), Math.sin(a) * Math.sin(b));
      seams.push(i * columns + (j % columns));
      const at = i * (columns + 1) + j;
      if (i < rings && j < columns)
        corners.push(at, at + 1, at + columns + 1, at + 1, at + columns + 2, at + columns + 1);
    }
  return { points, corners, seams };
}

function normals(points: number[], corners: number[], seams: number[]): Float32Array {
  const out = new Float32Array(points.length);
  new Shading(Uint32Array.from(corners), Uint32Array.from(seams)).write(Float32Array.from(points), out);
  return out;
}

describe("normals of a surface", () => {
  it("of a sphere point outwards, also across its seam", () => {
    const { points, corners, seams } = ball(40, 80);
    const result = normals(points, corners, seams);
    // The outermost rings have triangles on one side only.
    const inner = (i: number): boolean => i > 3 * 81 && i < points.length - 3 * 81;
    // Facets of 4 degrees.
    for (let i = 0; i < points.length; i++) if (inner(i)) expect(Math.abs(result[i] - points[i])).toBeLessThan(0.02);
    for (let ring = 0; ring <= 40; ring++)
      for (let k = 0; k < 3; k++) expect(result[3 * (81 * ring + 80) + k]).toBe(result[3 * 81 * ring + k]);
  });

  it("are weighted by area, and turn with the surface", () => {
    // An edge of two squares; one is four times as large.
    const points = [0, 0, 0, 0, 0, 1, 2, 0, 0, 0, -1, 0];
    const result = normals(points, [0, 1, 2, 0, 3, 1], [0, 1, 2, 3]);
    expect(result[0] / result[1]).toBeCloseTo(-0.5);
    const turned = normals(
      points.map((_, i) => points[3 * Math.floor(i / 3) + ((i + 1) % 3)]),
      [0, 1, 2, 0, 3, 1],
      [0, 1, 2, 3],
    );
    expect(turned[2] / turned[0]).toBeCloseTo(-0.5);
  });

  it("are unit vectors in each frame, and up without area", () => {
    const shading = new Shading(Uint32Array.from([0, 1, 2]), Uint32Array.from([0, 1, 2, 3]));
    const out = new Float32Array(12);
    shading.write(Float32Array.from([0, 0, 0, 0, 0, 1, 1, 0, 0, 5, 5, 5]), out);
    shading.write(Float32Array.from([0, 0, 0, 0, 1, 0, 0, 0, 1, 5, 5, 5]), out);
    expect([...out]).toEqual([1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0]);
  });
});
