/**
 * Samples a channel at a time exactly as the server (`character/curve.py`): stepped, linear or Bezier columns;
 * quaternions by slerp on linear segments, and by normalised columns on Bezier segments, with continuous signs.
 */
import { bernstein, solveUnit } from "./bezier";
import { BEZIER, type CurveChannel, isRotation, memoise, STEP, segmentAt } from "./curves";

/** (K,) the sign of each key of a rotation, so that q does not jump to -q; 1 for other kinds. */
export const keySigns = memoise((channel: CurveChannel): Int8Array => {
  const keys = channel.times.length;
  const signs = new Int8Array(keys).fill(1);
  if (!isRotation(channel)) return signs;
  const { values, segments } = channel;
  for (let k = 0; k + 1 < keys; k++) {
    let dot = 0;
    for (let c = 0; c < 4; c++) dot += values[4 * k + c] * values[4 * k + 4 + c];
    signs[k + 1] = segments[k] !== BEZIER && dot < 0 ? -signs[k] : signs[k];
  }
  return signs;
});

/** The value of one Bezier column at a time within segment k. */
export function bezierValue(channel: CurveChannel, column: number, k: number, time: number): number {
  const n = channel.columns.length;
  const start = channel.times[k];
  const length = channel.times[k + 1] - start;
  const out = 2 * (k * n + column);
  const into = 2 * ((k + 1) * n + column);
  const { after, before, values } = channel;
  const s = solveUnit(after[out] / length, 1 - before[into] / length, (time - start) / length);
  const y0 = values[k * n + column];
  const y3 = values[(k + 1) * n + column];
  return bernstein(y0, y0 + after[out + 1], y3 - before[into + 1], y3, s);
}

/** All columns of a Bezier segment; x(s) = t is solved once for columns with equal handle lengths. */
function bezierRow(channel: CurveChannel, k: number, time: number, row: Float64Array): void {
  const { after, before, values, times, columns } = channel;
  const n = columns.length;
  const length = times[k + 1] - times[k];
  let [p1, p2, s] = [NaN, NaN, 0];
  for (let c = 0; c < n; c++) {
    const out = 2 * (k * n + c);
    const into = 2 * ((k + 1) * n + c);
    const [one, two] = [after[out] / length, 1 - before[into] / length];
    if (one !== p1 || two !== p2) s = solveUnit(one, two, (time - times[k]) / length);
    [p1, p2] = [one, two];
    const y0 = values[k * n + c];
    const y3 = values[(k + 1) * n + c];
    row[c] = bernstein(y0, y0 + after[out + 1], y3 - before[into + 1], y3, s);
  }
}

/** Samples all columns at a time into `row` (n,); `signs` are from `keySigns`. */
export function sampleRow(channel: CurveChannel, time: number, signs: Int8Array, row: Float64Array): Float64Array {
  const { times, values, columns, extrapolation } = channel;
  const n = columns.length;
  const last = times.length - 1;
  const side: number = time < times[0] ? 0 : time > times[last] ? 1 : -1;
  const mode = side < 0 ? "hold" : extrapolation[side];
  if (last === 0 || (side >= 0 && mode === "hold")) {
    sampleKey(channel, side === 1 ? last : 0, signs, row);
    return row;
  }
  if (mode === "linear") {
    const edge = side === 0 ? 0 : last;
    for (let c = 0; c < n; c++) row[c] = values[edge * n + c] + (time - times[edge]) * endSlope(channel, side, c);
    if (isRotation(channel)) normalise(row, signs[edge]);
    return row;
  }
  const length = times[last] - times[0];
  const turns = side < 0 ? 0 : Math.floor((time - times[0]) / length);
  sampleInside(channel, time - turns * length, signs, row);
  if (mode === "cycle_offset") for (let c = 0; c < n; c++) row[c] += turns * (values[last * n + c] - values[c]);
  if (mode === "cycle_offset" && isRotation(channel)) normalise(row, 1);
  return row;
}

function sampleKey(channel: CurveChannel, key: number, signs: Int8Array, row: Float64Array): void {
  const n = channel.columns.length;
  for (let c = 0; c < n; c++) row[c] = channel.values[key * n + c];
  if (isRotation(channel)) normalise(row, signs[key]);
}

function sampleInside(channel: CurveChannel, time: number, signs: Int8Array, row: Float64Array): void {
  sampleSegment(channel, segmentAt(channel.times, time), time, signs, row);
}

/** Samples all columns at a time within segment k into `row`. */
export function sampleSegment(
  channel: CurveChannel,
  k: number,
  time: number,
  signs: Int8Array,
  row: Float64Array,
): void {
  const { times, values, segments, columns } = channel;
  const n = columns.length;
  const share = Math.min(1, Math.max(0, (time - times[k]) / (times[k + 1] - times[k])));
  const kind = segments[k];
  if (kind === BEZIER) {
    bezierRow(channel, k, time, row);
    if (isRotation(channel)) normalise(row, signs[k]);
  } else if (kind === STEP) {
    sampleKey(channel, share >= 1 ? k + 1 : k, signs, row);
  } else if (isRotation(channel)) {
    slerp(values, 4 * k, 4 * k + 4, share, row);
    for (let c = 0; c < 4; c++) row[c] *= signs[k];
  } else {
    for (let c = 0; c < n; c++) row[c] = values[k * n + c] + share * (values[(k + 1) * n + c] - values[k * n + c]);
  }
}

function normalise(row: Float64Array, sign: number): void {
  const length = Math.hypot(row[0], row[1], row[2], row[3]);
  if (length > 0) for (let c = 0; c < 4; c++) row[c] *= sign / length;
}

/** Spherical interpolation the short way, from the quaternion at `a` to the one at `b` of an array. */
function slerp(values: Float64Array, a: number, b: number, share: number, row: Float64Array): void {
  let cosine = 0;
  for (let c = 0; c < 4; c++) cosine += values[a + c] * values[b + c];
  const sign = cosine < 0 ? -1 : 1;
  let difference = 0;
  let sum = 0;
  for (let c = 0; c < 4; c++) {
    difference += (values[a + c] - sign * values[b + c]) ** 2;
    sum += (values[a + c] + sign * values[b + c]) ** 2;
  }
  const close = Math.abs(cosine) > 0.9995; // the arc cosine is inaccurate there
  const angle = close
    ? 2 * Math.atan2(Math.sqrt(difference), Math.sqrt(sum))
    : Math.acos(Math.min(1, Math.abs(cosine)));
  const equal = angle < 1e-12;
  const first = equal ? 1 - share : Math.sin((1 - share) * angle) / Math.sin(angle);
  const second = sign * (equal ? share : Math.sin(share * angle) / Math.sin(angle));
  for (let c = 0; c < 4; c++) row[c] = first * values[a + c] + second * values[b + c];
}

/** The slope of the linear extrapolation, in value per second: side 0 before the first key, 1 after the last. */
export function endSlope(channel: CurveChannel, side: number, column: number): number {
  const { times, values, segments, columns } = channel;
  const n = columns.length;
  const last = times.length - 1;
  if (last === 0) return 0;
  const k = side === 0 ? 0 : last - 1;
  if (segments[k] === STEP) return 0;
  const handles = side === 0 ? channel.after : channel.before;
  const at = 2 * ((side === 0 ? 0 : last) * n + column);
  if (segments[k] === BEZIER && handles[at] > 0) return handles[at + 1] / handles[at];
  return (values[(k + 1) * n + column] - values[k * n + column]) / (times[k + 1] - times[k]);
}
