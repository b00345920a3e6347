/**
 * The graph's frame (stream 3, form 5): columns with their keys and handles, and what the server evaluates.
 *
 * After the header, in words of 4 bytes: S times; then for each of N columns u32 channel, column, K, 0; K times,
 * values, before dt, before dv, after dt, after dv, K u32 flags (two bits: kind of the segment that leaves the key);
 * S values.
 */
import { type EditChannel, FRAME } from "../../protocol/messages";
import type { CurveChannel } from "./curves";

const COUNTS = 24; // offset of N and S in the header

/** The channels of a frame, and the values that the server sampled. */
export interface GraphFrame {
  channels: CurveChannel[];
  numbers: number[]; // index of each channel in the edit
  times: Float32Array; // (S,)
  rows: Float32Array[][]; // for each channel, for each column (S,)
}

interface Column {
  column: number;
  parts: Float32Array[]; // times, values, before dt, before dv, after dt, after dv
  kinds: Uint8Array;
  row: Float32Array;
}

/** Parses a frame, with the names of the edit's channels; null if the bytes are not such a frame. */
export function readGraph(data: ArrayBuffer, known: readonly EditChannel[]): GraphFrame | null {
  const header = new DataView(data);
  if (data.byteLength < FRAME.header || header.getUint32(12, true) !== FRAME.graph) return null;
  const count = header.getUint32(COUNTS, true);
  const samples = header.getUint32(COUNTS + 4, true);
  let at = FRAME.header;
  /** The byte at which the next array of `length` 4-byte numbers begins. */
  const next = (length: number): number => {
    const start = at;
    at += 4 * length;
    return start;
  };
  const floats = (length: number): Float32Array => new Float32Array(data, next(length), length);
  const words = (length: number): Uint32Array => new Uint32Array(data, next(length), length);
  const times = floats(samples);
  const columnsOf = new Map<number, Column[]>();
  for (let i = 0; i < count; i++) {
    const [channel, column, keys] = words(4);
    const parts = Array.from({ length: 6 }, () => floats(keys));
    const kinds = Uint8Array.from(words(keys), (flags) => flags & 3);
    const list = columnsOf.get(channel) ?? [];
    columnsOf.set(channel, list);
    list.push({ column, parts, kinds, row: floats(samples) });
  }
  const numbers = [...columnsOf.keys()].filter((number) => number < known.length).sort((a, b) => a - b);
  const ordered = numbers.map((number) => (columnsOf.get(number) as Column[]).sort((a, b) => a.column - b.column));
  return {
    channels: numbers.map((number, i) => joinColumns(known[number], ordered[i])),
    numbers,
    times,
    rows: ordered.map((columns) => columns.map((column) => column.row)),
  };
}

function joinColumns({ target, channel, columns: names, beyond }: EditChannel, columns: Column[]): CurveChannel {
  const [first] = columns;
  const keys = first.parts[0].length;
  const n = columns.length;
  const values = new Float64Array(keys * n);
  const before = new Float64Array(keys * n * 2);
  const after = new Float64Array(keys * n * 2);
  columns.forEach(({ parts }, c) => {
    for (let k = 0; k < keys; k++) {
      const key = k * n + c;
      values[key] = parts[1][k];
      before[2 * key] = parts[2][k];
      before[2 * key + 1] = parts[3][k];
      after[2 * key] = parts[4][k];
      after[2 * key + 1] = parts[5][k];
    }
  });
  return {
    target,
    kind: channel,
    columns: columns.map((part) => names[part.column]),
    times: Float64Array.from(first.parts[0]),
    values,
    before,
    after,
    segments: first.kinds.slice(0, Math.max(0, keys - 1)),
    extrapolation: beyond,
  };
}
