import { describe, expect, it } from "vitest";
import { type EditState, FRAME } from "../../protocol/messages";
import type { CurveChannel } from "./curves";
import { deviation, framed, targetsOf } from "./framing";
import { readGraph } from "./graph_file";
import { onlyKey } from "./key_fields";
import { type Changed, createModel, hasValues, renewed } from "./model";
import { allKeys } from "./operations";
import { keySigns, sampleRow } from "./sampling";
import { countKeys } from "./selection";
import { hermite } from "./test_channels";

const move: CurveChannel = {
  ...hermite(
    "translation",
    ["x", "y", "z"],
    [0, 1, 2],
    [
      [0, 0, 0],
      [1, 2, 3],
      [2, 2, 2],
    ],
    [
      [0, 1, 0],
      [1, 1, 1],
      [0, 0, 0],
    ],
  ),
  target: "hips",
};
const turn: CurveChannel = {
  ...hermite(
    "rotation",
    ["x", "y", "z", "w"],
    [0, 2],
    [
      [0, 0, 0, 1],
      [0, 0.6, 0, 0.8],
    ],
  ),
  target: "head",
};

function stateOf(channels: CurveChannel[], edit = "e1", revision = 1): EditState {
  const listed = channels.map(({ target, kind, columns, times, extrapolation: beyond }) => ({
    target,
    channel: kind,
    columns: [...columns],
    times: [...times],
    keys: times.length,
    beyond,
  }));
  return { edit, channels: listed, rate: 24, seconds: 2, keys: 5, baked: false, revision } as unknown as EditState;
}

/** The bytes that the server sends for channels, by number. */
function bytesOf(all: CurveChannel[], numbers: number[], times: number[]): ArrayBuffer {
  const words: (number | Uint32Array)[] = [...times];
  let columns = 0;
  for (const number of numbers) {
    const channel = all[number];
    const n = channel.columns.length;
    const keys = channel.times.length;
    for (let c = 0; c < n; c++, columns++) {
      words.push(Uint32Array.of(number, c, keys, 0), ...channel.times);
      const each = (part: Float64Array, stride: number, at: number) =>
        Array.from({ length: keys }, (_, k) => part[stride * (k * n + c) + at]);
      words.push(
        ...each(channel.values, 1, 0),
        ...each(channel.before, 2, 0),
        ...each(channel.before, 2, 1),
        ...each(channel.after, 2, 0),
        ...each(channel.after, 2, 1),
      );
      words.push(Uint32Array.from({ length: keys }, (_, k) => (channel.segments[k] ?? 0) + 4));
      words.push(...times.map((time) => sampleRow(channel, time, keySigns(channel), new Float64Array(n))[c]));
    }
  }
  const length = words.reduce((sum: number, word) => sum + (typeof word === "number" ? 1 : word.length), 0);
  const data = new DataView(new ArrayBuffer(FRAME.header + 4 * length));
  data.setUint32(12, FRAME.graph, true);
  data.setUint32(24, columns, true);
  data.setUint32(28, times.length, true);
  let at: number = FRAME.header;
  for (const word of words) {
    if (typeof word === "number") data.setFloat32(at, word, true);
    else for (const [i, value] of word.entries()) data.setUint32(at + 4 * i, value, true);
    at += 4 * (typeof word === "number" ? 1 : word.length);
  }
  return data.buffer as ArrayBuffer;
}

function filled() {
  const model = createModel();
  const told: Changed[] = [];
  model.onChange((what) => told.push(what));
  model.hear(stateOf([move, turn]));
  const frame = readGraph(bytesOf([move, turn], [0, 1], [0, 0.5, 1.7]), stateOf([move, turn]).channels);
  if (!frame) throw new Error("no frame");
  model.hearFrame(frame);
  model.choose([0, 1]);
  return { model, told };
}

describe("the graph's frame", () => {
  it("is read back, and is what the page evaluates", () => {
    const { model } = filled();
    const [hips, head] = model.kept;
    expect([hips.columns, head.kind, [...hips.segments]]).toEqual([["x", "y", "z"], "rotation", [2, 2]]);
    expect([...hips.values]).toEqual([...move.values]);
    for (const [i, value] of hips.after.entries()) expect(value).toBeCloseTo(move.after[i], 6);
    expect(deviation(model)).toBeLessThan(1e-6);
  });
  it("is refused where it is another's", () => {
    expect(readGraph(new ArrayBuffer(8), [])).toBeNull();
    expect(readGraph(new ArrayBuffer(64), [])).toBeNull();
  });
});

describe("the model", () => {
  it("knows times before it knows values, and keeps values while keys stay", () => {
    const model = createModel();
    model.hear(stateOf([move, turn]));
    expect(model.kept.map(hasValues)).toEqual([false, false]);
    expect(model.lanes).toEqual([]);
    const { model: full } = filled();
    expect(full.lanes.length).toBe(7);
    full.hear(stateOf([move, turn], "e1", 2));
    expect(full.kept.map(hasValues)).toEqual([true, true]);
    const later = { ...move, times: Float64Array.of(0, 1.2, 2) };
    full.hear(stateOf([later, turn], "e1", 3));
    expect(full.kept.map(hasValues)).toEqual([false, true]);
    full.hear(stateOf([move], "e2"));
    expect([full.chosen, full.selection.size]).toEqual([[], 0]);
  });
  it("shows a gesture, takes it on, and goes back where it is refused", () => {
    const { model, told } = filled();
    const moved = { ...model.kept[0], times: Float64Array.of(0, 1.5, 2) };
    model.show(new Map([[0, moved]]));
    expect([model.channels[0].times[1], model.kept[0].times[1], told.at(-1)]).toEqual([1.5, 1, "gesture"]);
    const before = model.adopt();
    expect([model.kept[0].times[1], model.gesture]).toEqual([1.5, null]);
    model.restore(before);
    expect(model.kept[0].times[1]).toBe(1);
  });
  it("selects what was inserted when it comes", () => {
    const { model } = filled();
    model.expect([1], 1);
    model.hear(stateOf([move, turn]));
    expect(model.selection.size).toBe(0);
    model.hear(stateOf([move, { ...turn, times: Float64Array.of(0, 1, 2) }]));
    expect(onlyKey(model)).toEqual({ channel: 1, column: -1, key: 1 });
  });
  it("hides columns, and frames what is shown or selected", () => {
    const { model } = filled();
    model.choose([0]);
    model.toggle(0, 2);
    expect(model.lanes.map((lane) => lane.column)).toEqual([0, 1]);
    const view = { start: 0, stop: 1, low: 0, high: 1 };
    const all = framed(model, true, { start: 0, stop: 2 }, view);
    expect(all?.low).toBeLessThan(0);
    expect(all?.high).toBeGreaterThan(2);
    model.select(new Map([[0, Uint8Array.of(0, 0, 0, 1, 0, 0, 1, 0, 0)]]));
    const some = framed(model, true, { start: 0, stop: 2 }, view);
    expect([some?.start, some?.stop].map((time) => Math.round(10 * (time ?? 0)) / 10)).toEqual([1, 2]);
    expect(onlyKey(model)).toBeNull();
    expect(countKeys(model.selection, model.kept)).toBe(2);
    expect(allKeys(model, false).length).toBe(3);
    expect(targetsOf(model.kept, [1, 0])).toEqual(["head", "hips"]);
  });
});

describe("beyond the keys", () => {
  it("curves go on as the server says, also where their keys were known before", () => {
    const cycle: CurveChannel = { ...move, extrapolation: ["cycle", "cycle_offset"] };
    const [known] = renewed(stateOf([cycle]), [move]);
    expect([known.extrapolation, hasValues(known)]).toEqual([["cycle", "cycle_offset"], true]);
    const read = readGraph(bytesOf([cycle], [0], [0, 1]), stateOf([cycle]).channels);
    expect(read?.channels[0]?.extrapolation).toEqual(["cycle", "cycle_offset"]);
  });
});
