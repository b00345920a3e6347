/** Binary frames: a header of 32 bytes, then float32 (see studio/source.py). */

export const MAGIC = 0x31465355;
export const HEADER = 32;
export const FORM = { joints: 1, vertices: 2, crowd: 3 } as const;

export interface Frame {
  stream: number;
  sequence: number;
  form: number;
  time: number; // seconds
  a: number;
  b: number;
  values: Float32Array;
}

/** Parses a frame; null if the bytes are not one. */
export function parseFrame(data: ArrayBuffer): Frame | null {
  if (data.byteLength < HEADER || data.byteLength % 4) return null;
  const view = new DataView(data);
  if (view.getUint32(0, true) !== MAGIC) return null;
  const [stream, sequence, form] = [4, 8, 12].map((offset) => view.getUint32(offset, true));
  const a = view.getUint32(24, true);
  const b = view.getUint32(28, true);
  const values = new Float32Array(data, HEADER);
  const expected = form === FORM.joints ? 12 * a + b : form === FORM.vertices ? 3 * (a + b) : a * b;
  if (values.length !== expected) return null;
  return { stream, sequence, form, time: view.getFloat64(16, true), a, b, values };
}
