/** What a viewer shows, as Python embeds it in the page (see src/understudy/render/html.py). */
import { HEADER, MAGIC } from "../stage/frames";

export interface Payload {
  character: string; // its name
  clip: string; // its name; empty in the rest pose
  note: string; // what is left out, as a sentence; empty if nothing is
  rate: number; // frames per second
  frames: number;
  play: boolean; // whether it plays from the beginning
  form: number; // of a frame: joints or vertices, with its two numbers (see stage/frames.ts)
  a: number;
  b: number;
  range: { low: [number, number, number]; high: [number, number, number] } | null; // of quantised positions, metres
  description: string; // this and the following are packed: base64 of zlib
  poses: string;
  images: { mime: string; data: string }[];
}

/** The bytes of packed text. */
export async function unpack(text: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** The poses of a clip as frames for the stage. */
export class Poses {
  private readonly floats: Float32Array | null;
  private readonly steps: Uint16Array | null;

  constructor(
    private readonly payload: Pick<Payload, "rate" | "frames" | "form" | "a" | "b" | "range">,
    poses: ArrayBuffer,
  ) {
    this.floats = payload.range ? null : new Float32Array(poses);
    this.steps = payload.range ? sumDifferences(new Uint8Array(poses), payload.frames) : null;
  }

  /** A frame as bytes. */
  frame(number: number): ArrayBuffer {
    const { frames, rate, form, a, b, range } = this.payload;
    const width = (this.steps ?? this.floats ?? []).length / Math.max(1, frames);
    const data = new ArrayBuffer(HEADER + 4 * width);
    const header = new DataView(data);
    for (const [offset, value] of [MAGIC, 0, number, form].entries()) header.setUint32(4 * offset, value, true);
    header.setFloat64(16, number / rate, true);
    header.setUint32(24, a, true);
    header.setUint32(28, b, true);
    const values = new Float32Array(data, HEADER);
    if (this.floats) values.set(this.floats.subarray(number * width, (number + 1) * width));
    if (!this.steps || !range) return data;
    const scale = range.high.map((high, axis) => (high - range.low[axis]) / 65535);
    for (let i = 0, from = number * width; i < width; i++, from++)
      values[i] = range.low[i % 3] + scale[i % 3] * this.steps[from];
    return data;
  }
}

/**
 * Positions in steps of their range, from differences between frames: the low bytes of all numbers come first, then
 * the high bytes.
 */
export function sumDifferences(bytes: Uint8Array, frames: number): Uint16Array {
  const count = bytes.length / 2;
  const width = count / Math.max(1, frames);
  const result = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const before = i < width ? 0 : result[i - width];
    result[i] = before + bytes[i] + 256 * bytes[count + i]; // modulo 65536
  }
  return result;
}
