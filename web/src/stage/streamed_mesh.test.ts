import { describe, expect, it } from "vitest";
import { numbersOf } from "./data_textures";
import type { Description } from "./description";
import { FORM, type Frame } from "./frames";
import { joined, pieceOf, piecesOf } from "./lod_mesh";
import { renumbered, Streamed } from "./streamed_mesh";

/** Two triangles that share an edge; the vertex 4 lies where 1 does, on the other side of a seam. */
function corner(): Description {
  return {
    vertices: 5,
    origins: Uint32Array.of(0, 1, 2, 3, 4),
    corners: Uint32Array.of(0, 1, 2, 0, 2, 3),
    seams: Uint32Array.of(0, 1, 2, 3, 1),
    rest: new Float32Array(15),
  } as unknown as Description;
}

const frame = (values: Float32Array): Frame => ({
  stream: 0,
  sequence: 1,
  form: FORM.vertices,
  time: 0,
  a: 5,
  b: 0,
  values,
});
const PLACES = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0);

describe("what is streamed", () => {
  it("goes into the tables, normals and all", () => {
    const streamed = new Streamed(corner());
    expect(streamed.accept({ ...frame(PLACES), a: 4 })).toBe(false);
    expect(streamed.accept(frame(PLACES))).toBe(true);
    streamed.update();
    expect([...numbersOf(streamed.place).subarray(0, 15)]).toEqual([...PLACES]);
    expect([...numbersOf(streamed.normal).subarray(3, 6)]).toEqual([0, 0, 1]);
    expect([...numbersOf(streamed.normal).subarray(12, 15)]).toEqual([0, 0, 1]); // across the seam
    expect([...streamed.read()]).toEqual([...PLACES]);
  });

  it("has tables of its own for a sketch, with normals of what the sketch draws", () => {
    const streamed = new Streamed(corner());
    const { vertices, triangles } = pieceOf(Uint32Array.of(0, 2, 3));
    expect([...streamed.sketch(vertices, triangles)]).toEqual([0, 1, 2]);
    streamed.accept(frame(PLACES));
    streamed.sketched = true;
    streamed.update();
    expect([...numbersOf(streamed.place).subarray(0, 9)]).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect([...numbersOf(streamed.normal).subarray(0, 3)]).toEqual([1, 0, 0]);
    // not asked for yet
    expect([...numbersOf(streamed.everywhere as never).subarray(0, 15)]).toEqual(new Array(15).fill(0));
    streamed.updateAll();
    expect([...numbersOf(streamed.everywhere as never).subarray(0, 15)]).toEqual([...PLACES]);
    streamed.sketched = false;
    streamed.update();
    expect(streamed.place).toBe(streamed.everywhere);
    expect(numbersOf(streamed.normal)[2]).toBeGreaterThan(0.5);
  });
});

describe("a sketch", () => {
  it("numbers its vertices in the order in which they are drawn", () => {
    const { vertices, triangles } = pieceOf(Uint32Array.of(7, 3, 9, 3, 7, 4));
    expect([...vertices]).toEqual([7, 3, 9, 4]);
    expect([...triangles]).toEqual([0, 1, 2, 1, 0, 3]);
    expect([...renumbered(Uint32Array.of(8, 5, 8, 2))]).toEqual([0, 1, 0, 2]);
  });

  it("joins pieces one after another", () => {
    const all = joined([pieceOf(Uint32Array.of(5, 6, 7)), pieceOf(Uint32Array.of(5, 7, 8))]);
    expect(all.starts).toEqual([0, 3]);
    expect([...all.vertices]).toEqual([5, 6, 7, 5, 7, 8]);
    expect([...all.triangles]).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("is none where the draws are of another character", () => {
    const parts = [{ draws: [{}, {}] }] as unknown as Description["parts"];
    expect(piecesOf({ parts }, [[Uint32Array.of(0, 1, 2)]])).toBeNull();
    expect(piecesOf({ parts }, [[Uint32Array.of(0, 1, 2), Uint32Array.of()]])).toHaveLength(2);
  });
});
