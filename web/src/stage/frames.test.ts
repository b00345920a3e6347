import { describe, expect, it } from "vitest";
import { FORM, HEADER, MAGIC, parseFrame } from "./frames";

function frame(form: number, a: number, b: number, floats: number, magic = MAGIC): ArrayBuffer {
  const data = new ArrayBuffer(HEADER + 4 * floats);
  const view = new DataView(data);
  for (const [i, value] of [magic, 1, 7, form].entries()) view.setUint32(4 * i, value, true);
  view.setFloat64(16, 2.5, true);
  view.setUint32(24, a, true);
  view.setUint32(28, b, true);
  new Float32Array(data, HEADER).fill(0.5);
  return data;
}

describe("frames", () => {
  it("are read with their header", () => {
    const parsed = parseFrame(frame(FORM.joints, 2, 3, 27));
    expect(parsed).toMatchObject({ stream: 1, sequence: 7, form: 1, time: 2.5, a: 2, b: 3 });
    expect(parsed?.values.length).toBe(27);
  });

  it("are refused if the payload does not match the header", () => {
    expect(parseFrame(frame(FORM.joints, 2, 3, 26))).toBeNull();
    expect(parseFrame(frame(FORM.vertices, 4, 4, 24))).not.toBeNull();
    expect(parseFrame(frame(FORM.vertices, 4, 0, 12))).not.toBeNull();
    expect(parseFrame(frame(FORM.crowd, 3, 5, 15))).not.toBeNull();
    expect(parseFrame(frame(FORM.crowd, 3, 5, 14))).toBeNull();
    expect(parseFrame(frame(FORM.joints, 0, 0, 0, 1))).toBeNull();
    expect(parseFrame(new ArrayBuffer(12))).toBeNull();
  });
});
