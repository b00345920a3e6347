import { describe, expect, it } from "vitest";
import { vertexPlan } from "./deformation";
import { type BufferView, leadingJoints, parseDescription } from "./description";

/** Two vertices, three bones, the second vertex in a part with dual quaternions. */
function description(change: Record<string, unknown> = {}): ArrayBuffer {
  const buffers: number[] = [];
  const view = new DataView(new ArrayBuffer(4));
  const add = (values: number[], width: number, kind: "f" | "u"): BufferView => {
    const place: BufferView = [4 * buffers.length, values.length / width, width, kind];
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
  it("is parsed", () => {
    const parsed = parseDescription(description());
    expect([...parsed.positions]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(parsed.drawn).toBe(2);
    expect([...leadingJoints(parsed)]).toEqual([0, 1]);
  });

  it("gives each vertex its lists and its skinning method", () => {
    expect([...vertexPlan(parseDescription(description()))]).toEqual([0, 2, 0, 0, 2, -1, 0, 1]);
  });

  it("is refused with an error if it is cut off or of another version", () => {
    expect(() => parseDescription(description().slice(0, 900))).toThrow(/cut off|JSON/);
    expect(() => parseDescription(new ArrayBuffer(2))).toThrow("cut off");
    expect(() => parseDescription(description({ version: 9 }))).toThrow("reload the page");
  });
});
