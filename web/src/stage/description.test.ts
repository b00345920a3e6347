import { describe, expect, it } from "vitest";
import { planOf } from "./deformation";
import { leadingJoints, type Place, parseDescription } from "./description";

/** Two vertices, three bones, the second vertex in a part with dual quaternions. */
function description(change: Record<string, unknown> = {}): ArrayBuffer {
  const buffers: number[] = [];
  const view = new DataView(new ArrayBuffer(4));
  const add = (values: number[], width: number, kind: "f" | "u"): Place => {
    const place: Place = [4 * buffers.length, values.length / width, width, kind];
    for (const value of values) {
      if (kind === "f") view.setFloat32(0, value, true);
      else view.setUint32(0, value, true);
      buffers.push(view.getUint32(0, true));
    }
    return place;
  };
  const part = (start: number, dual: boolean) => ({
    name: `part${start}`,
    start,
    count: 1,
    dual,
    uvs: [],
    colours: null,
    draws: [],
  });
  const header = {
    version: 2,
    name: "two",
    form: 1,
    vertices: 2,
    joints: ["a", "b", "c"],
    parents: [-1, 0, 1],
    bones: [2, 0, 1],
    binds: add(new Array(36).fill(0), 12, "f"),
    weights: 1,
    bounds: [
      [0, 0, 0],
      [1, 1, 1],
    ],
    parts: [part(0, false), part(1, true)],
    materials: [],
    positions: add([1, 2, 3, 4, 5, 6], 3, "f"),
    normals: add([0, 1, 0, 1, 0, 0], 3, "f"),
    origins: add([0, 1], 1, "u"),
    influenceFirst: add([0, 2, 3], 1, "u"),
    influenceNumber: add([1, 0, 2], 1, "u"),
    influenceValue: add([0.7, 0.3, 1], 1, "f"),
    targetFirst: add([0, 0, 1], 1, "u"),
    targetNumber: add([0], 1, "u"),
    targetValue: add([1, 0, 0, 0, 0, 0], 6, "f"),
    corners: add([], 3, "u"),
    seams: add([], 1, "u"),
    rest: add(new Array(37).fill(0), 1, "f"),
    ...change,
  };
  let text = JSON.stringify(header);
  text += " ".repeat(-text.length & 3);
  const data = new ArrayBuffer(4 + text.length + 4 * buffers.length);
  new DataView(data).setUint32(0, text.length, true);
  new Uint8Array(data, 4).set(new TextEncoder().encode(text));
  new Uint32Array(data, 4 + text.length).set(buffers);
  return data;
}

describe("a description", () => {
  it("is taken apart", () => {
    const found = parseDescription(description());
    expect([...found.positions]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(found.drawn).toBe(2);
    expect([...leadingJoints(found)]).toEqual([0, 1]);
  });

  it("says of each vertex where its lists are, and which method it follows", () => {
    expect([...planOf(parseDescription(description()))]).toEqual([0, 2, 0, 0, 2, -1, 0, 1]);
  });

  it("is refused with a sentence where it is cut off or of another version", () => {
    expect(() => parseDescription(description().slice(0, 900))).toThrow(/cut off|JSON/);
    expect(() => parseDescription(new ArrayBuffer(2))).toThrow("cut off");
    expect(() => parseDescription(description({ version: 9 }))).toThrow("reload the page");
  });
});
