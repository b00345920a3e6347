/** The header of a binary frame: 32 bytes, little-endian (contract in studio/source.py). */
import { FRAME } from "./messages";

export interface FrameHeader {
  stream: number; // 0 the stage, 1 the crowd
  sequence: number;
  form: number;
  time: number; // seconds
}

/** Parses the header of a frame; null if the bytes are not a frame. */
export function frameHeader(data: ArrayBuffer): FrameHeader | null {
  if (data.byteLength < FRAME.header) return null;
  const view = new DataView(data);
  if (view.getUint32(0, true) !== FRAME.magic) return null;
  return {
    stream: view.getUint32(4, true),
    sequence: view.getUint32(8, true),
    form: view.getUint32(12, true),
    time: view.getFloat64(16, true),
  };
}
