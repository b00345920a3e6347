import { describe, expect, it } from "vitest";
import { tableData } from "./data_textures";
import type { Description } from "./description";
import { FORM, type Frame } from "./frames";
import { joinPieces, pieceOf, piecesOf } from "./lod_mesh";
import { renumber, StreamedMesh } from "./streamed_mesh";

/** Two triangles that share an edge; vertex 4 coincides with vertex 1, on the other side of a seam. */
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

describe("a streamed mesh", () => {
  it("writes positions and normals into the tables", () => {
    const streamed = new StreamedMesh(corner());
    expect(streamed.accept({ ...frame(PLACES), a: 4 })).toBe(false);
    expect(streamed.accept(frame(PLACES))).toBe(true);
    streamed.update();
    expect([...tableData(streamed.positionTexture).subarray(0, 15)]).toEqual([...PLACES]);
    expect([...tableData(streamed.normalTexture).subarray(3, 6)]).toEqual([0, 0, 1]);
    expect([...tableData(streamed.normalTexture).subarray(12, 15)]).toEqual([0, 0, 1]); // across the seam
    expect([...streamed.readPositions()]).toEqual([...PLACES]);
  });

  it("has separate tables for a level of detail, with normals of its triangles", () => {
    const streamed = new StreamedMesh(corner());
    const { vertices, triangles } = pieceOf(Uint32Array.of(0, 2, 3));
    expect([...streamed.setLod(vertices, triangles)]).toEqual([0, 1, 2]);
    streamed.accept(frame(PLACES));
    streamed.usesLod = true;
    streamed.update();
    expect([...tableData(streamed.positionTexture).subarray(0, 9)]).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 1]);
    expect([...tableData(streamed.normalTexture).subarray(0, 3)]).toEqual([1, 0, 0]);
    // not updated yet
    expect([...tableData(streamed.allPositions as never).subarray(0, 15)]).toEqual(new Array(15).fill(0));
    streamed.updateAll();
    expect([...tableData(streamed.allPositions as never).subarray(0, 15)]).toEqual([...PLACES]);
    streamed.usesLod = false;
    streamed.update();
    expect(streamed.positionTexture).toBe(streamed.allPositions);
    expect(tableData(streamed.normalTexture)[2]).toBeGreaterThan(0.5);
  });
});

describe("a level of detail", () => {
  it("numbers its vertices in the order in which they are drawn", () => {
    const { vertices, triangles } = pieceOf(Uint32Array.of(7, 3, 9, 3, 7, 4));
    expect([...vertices]).toEqual([7, 3, 9, 4]);
    expect([...triangles]).toEqual([0, 1, 2, 1, 0, 3]);
    expect([...renumber(Uint32Array.of(8, 5, 8, 2))]).toEqual([0, 1, 0, 2]);
  });

  it("concatenates pieces", () => {
    const all = joinPieces([pieceOf(Uint32Array.of(5, 6, 7)), pieceOf(Uint32Array.of(5, 7, 8))]);
    expect(all.starts).toEqual([0, 3]);
    expect([...all.vertices]).toEqual([5, 6, 7, 5, 7, 8]);
    expect([...all.triangles]).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("is null if the draws belong to another character", () => {
    const parts = [{ draws: [{}, {}] }] as unknown as Description["parts"];
    expect(piecesOf({ parts }, [[Uint32Array.of(0, 1, 2)]])).toBeNull();
    expect(piecesOf({ parts }, [[Uint32Array.of(0, 1, 2), Uint32Array.of()]])).toHaveLength(2);
  });
});
