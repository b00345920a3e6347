import { describe, expect, it } from "vitest";
import { bernstein, solveUnit } from "./bezier";
import { Profile, packColour, Raster } from "./raster";

describe("a profile", () => {
  it("has the minimum and maximum of a Bezier in each column", () => {
    const profile = new Profile(200);
    profile.clear();
    const [x, y] = [
      [-50, 20, 240, 260],
      [10, 190, -60, 80],
    ] as [number[], number[]];
    profile.moveTo(x[0], y[0]);
    profile.bezierCurveTo(x[1], y[1], x[2], y[2], x[3], y[3]);
    const at = (px: number) =>
      bernstein(
        ...(y as [number, number, number, number]),
        solveUnit((x[1] - x[0]) / 310, (x[2] - x[0]) / 310, (px - x[0]) / 310),
      );
    for (let column = 0; column < 200; column++) {
      const inside = Array.from({ length: 21 }, (_, i) => at(column + i / 20));
      expect(Math.abs(profile.low[column] - Math.min(...inside))).toBeLessThan(0.05);
      expect(Math.abs(profile.high[column] - Math.max(...inside))).toBeLessThan(0.05);
    }
  });
  it("keeps to its columns in either direction", () => {
    const profile = new Profile(10);
    profile.clear();
    profile.moveTo(12.5, 0);
    profile.lineTo(-2.5, 15);
    expect(profile.low[0]).toBeCloseTo(11.5, 5);
    expect(profile.high[0]).toBeCloseTo(12.5, 5);
    expect(profile.high[9]).toBeCloseTo(3.5, 5);
    profile.clear();
    profile.moveTo(3, 1);
    profile.lineTo(3, 8);
    expect([profile.low[3], profile.high[3], profile.high[4]]).toEqual([1, 8, -Infinity]);
  });
});

describe("a raster", () => {
  it("covers the width of the line, in its colour", () => {
    const raster = new Raster(4, 20, 1);
    raster.profile.clear();
    raster.profile.moveTo(0, 10.3);
    raster.profile.lineTo(4, 10.3);
    raster.paint(packColour("#204080"), 1);
    const column = Array.from({ length: 20 }, (_, y) => raster.pixels[4 * y + 1]);
    const covered = column.reduce((sum, pixel) => sum + (pixel >>> 24) / 255, 0);
    expect(covered).toBeCloseTo(1.24, 1);
    expect(column[10] & 0xffffff).toBe(0x804020);
  });
  it("stamps diamonds, also at its edges", () => {
    const raster = new Raster(9, 9, 1);
    raster.stamp(4, 4, 2, 1);
    expect(raster.pixels.filter(Boolean).length).toBe(13);
    for (const [x, y] of [
      [0, 0],
      [8, 8],
      [-3, 4],
      [40, 40],
    ])
      raster.stamp(x, y, 2, 1);
    expect(raster.pixels[0]).toBe(0xff000001);
    expect(raster.pixels[8]).toBe(0);
  });
});
