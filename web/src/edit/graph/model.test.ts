import { describe, expect, it } from "vitest";
import { type EditState, FRAME } from "../../protocol/messages";
import type { CurveChannel } from "./curves";
import { deviation, frameKeys, targetsOf } from "./framing";
import { readGraph } from "./graph_file";
import { singleKey } from "./key_fields";
import { createModel, hasValues, type ModelChange, mergeState } from "./model";
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

/** The bytes of a frame with these channels, as the server sends it. */
function bytesOf(all: CurveChannel[], numbers: number[], times: number[]): ArrayBuffer {
  const words: (number | Uint32Array)[] = [...times];
  let columns = 0;
  for (const number of numbers) {
    const channel = all[number];
    const n = channel.columns.length;
    const keys = channel.times.length;
    for (let c = 0; c < n; c++, columns++) {
      words.push(Uint32Array.of(number, c, keys, 0), ...channel.times);
      const every = (part: Float64Array, stride: number, at: number) =>
        Array.from({ length: keys }, (_, k) => part[stride * (k * n + c) + at]);
      words.push(
        ...every(channel.values, 1, 0),
        ...every(channel.before, 2, 0),
        ...every(channel.before, 2, 1),
        ...every(channel.after, 2, 0),
        ...every(channel.after, 2, 1),
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
  const changes: ModelChange[] = [];
  model.onChange((what) => changes.push(what));
  model.setState(stateOf([move, turn]));
  const frame = readGraph(bytesOf([move, turn], [0, 1], [0, 0.5, 1.7]), stateOf([move, turn]).channels);
  if (!frame) throw new Error("no frame");
  model.setFrame(frame);
  model.choose([0, 1]);
  return { model, told: changes };
}

describe("the graph's frame", () => {
  it("is parsed, and equals what the page evaluates", () => {
    const { model } = filled();
    const [hips, head] = model.kept;
    expect([hips.columns, head.kind, [...hips.segments]]).toEqual([["x", "y", "z"], "rotation", [2, 2]]);
    expect([...hips.values]).toEqual([...move.values]);
    for (const [i, value] of hips.after.entries()) expect(value).toBeCloseTo(move.after[i], 6);
    expect(deviation(model)).toBeLessThan(1e-6);
  });
  it("is refused for another edit", () => {
    expect(readGraph(new ArrayBuffer(8), [])).toBeNull();
    expect(readGraph(new ArrayBuffer(64), [])).toBeNull();
  });
});

describe("the model", () => {
  it("has times before values, and keeps values while keys stay", () => {
    const model = createModel();
    model.setState(stateOf([move, turn]));
    expect(model.kept.map(hasValues)).toEqual([false, false]);
    expect(model.lanes).toEqual([]);
    const { model: full } = filled();
    expect(full.lanes.length).toBe(7);
    full.setState(stateOf([move, turn], "e1", 2));
    expect(full.kept.map(hasValues)).toEqual([true, true]);
    const later = { ...move, times: Float64Array.of(0, 1.2, 2) };
    full.setState(stateOf([later, turn], "e1", 3));
    expect(full.kept.map(hasValues)).toEqual([false, true]);
    full.setState(stateOf([move], "e2"));
    expect([full.chosen, full.selection.size]).toEqual([[], 0]);
  });
  it("shows a drag, adopts it, and restores it after a refusal", () => {
    const { model, told: changes } = filled();
    const moved = { ...model.kept[0], times: Float64Array.of(0, 1.5, 2) };
    model.showDrag(new Map([[0, moved]]));
    expect([model.channels[0].times[1], model.kept[0].times[1], changes.at(-1)]).toEqual([1.5, 1, "drag"]);
    const before = model.adoptDrag();
    expect([model.kept[0].times[1], model.drag]).toEqual([1.5, null]);
    model.restore(before);
    expect(model.kept[0].times[1]).toBe(1);
  });
  it("selects inserted keys when they arrive", () => {
    const { model } = filled();
    model.expect([1], 1);
    model.setState(stateOf([move, turn]));
    expect(model.selection.size).toBe(0);
    model.setState(stateOf([move, { ...turn, times: Float64Array.of(0, 1, 2) }]));
    expect(singleKey(model)).toEqual({ channel: 1, column: -1, key: 1 });
  });
  it("hides columns, and frames shown or selected keys", () => {
    const { model } = filled();
    model.choose([0]);
    model.toggle(0, 2);
    expect(model.lanes.map((lane) => lane.column)).toEqual([0, 1]);
    const view = { start: 0, stop: 1, low: 0, high: 1 };
    const all = frameKeys(model, true, { start: 0, stop: 2 }, view);
    expect(all?.low).toBeLessThan(0);
    expect(all?.high).toBeGreaterThan(2);
    model.select(new Map([[0, Uint8Array.of(0, 0, 0, 1, 0, 0, 1, 0, 0)]]));
    const some = frameKeys(model, true, { start: 0, stop: 2 }, view);
    expect([some?.start, some?.stop].map((time) => Math.round(10 * (time ?? 0)) / 10)).toEqual([1, 2]);
    expect(singleKey(model)).toBeNull();
    expect(countKeys(model.selection, model.kept)).toBe(2);
    expect(allKeys(model, false).length).toBe(3);
    expect(targetsOf(model.kept, [1, 0])).toEqual(["head", "hips"]);
  });
});

describe("beyond the keys", () => {
  it("curves extrapolate as the server says, also if their keys were known before", () => {
    const cycle: CurveChannel = { ...move, extrapolation: ["cycle", "cycle_offset"] };
    const [known] = mergeState(stateOf([cycle]), [move]);
    expect([known.extrapolation, hasValues(known)]).toEqual([["cycle", "cycle_offset"], true]);
    const read = readGraph(bytesOf([cycle], [0], [0, 1]), stateOf([cycle]).channels);
    expect(read?.channels[0]?.extrapolation).toEqual(["cycle", "cycle_offset"]);
  });
});
