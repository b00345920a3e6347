/**
 * The state of the graph editor: all channels of the edit (the shown ones with values and handles, the others only with
 * times), the chosen channels, the selected keys, and the preview of a drag.
 */
import type { EditState } from "../../protocol/messages";
import { type CurveChannel, channelName } from "./curves";
import type { GraphFrame } from "./graph_file";
import { type Lane, lanesOf } from "./lanes";
import { carrySelection, EMPTY_SELECTION, type KeySelection } from "./selection";

export interface Model {
  readonly state: EditState | null;
  /** The channels as shown, with the preview of a drag. */
  readonly channels: readonly CurveChannel[];
  /** The channels as confirmed by the server. */
  readonly kept: readonly CurveChannel[];
  /** The indices of the channels that the graph shows. */
  readonly chosen: readonly number[];
  readonly lanes: readonly Lane[];
  readonly selection: KeySelection;
  readonly drag: ReadonlyMap<number, CurveChannel> | null;
  readonly frame: GraphFrame | null; // the last one, for tests
  normal: boolean; // scale each curve to fill the height
  choose(channels: readonly number[]): void;
  select(selection: KeySelection): void;
  showDrag(drag: ReadonlyMap<number, CurveChannel> | null): void;
  /** Takes the preview of a drag as confirmed; returns the channels before, for `restore` if the server refuses. */
  adoptDrag(): readonly CurveChannel[];
  restore(before: readonly CurveChannel[]): void;
  isHidden(channel: number, column: number): boolean;
  toggle(channel: number, column: number): void;
  /** Selects the keys of channels at a time as soon as the server has inserted them. */
  expect(channels: readonly number[], time: number): void;
  setState(state: EditState | null): void;
  setFrame(frame: GraphFrame): void;
  /** Called after each change. */
  onChange(listener: (what: ModelChange) => void): void;
}

export type ModelChange = "channels" | "selection" | "drag";

export const hasValues = (channel: CurveChannel) => channel.values.length > 0;

const NO_VALUES = new Float64Array(0);
const TIME_TOLERANCE_S = 1e-4; // keys are sent as float32

function timesOnly({ target, channel, columns, times, beyond }: EditState["channels"][number]): CurveChannel {
  const segments = new Uint8Array(Math.max(0, times.length - 1));
  return {
    target,
    kind: channel,
    columns,
    times: Float64Array.from(times),
    values: NO_VALUES,
    before: NO_VALUES,
    after: NO_VALUES,
    segments,
    extrapolation: beyond,
  };
}

/** The channels of a new state; values of a channel are kept if its key times are the same. */
export function mergeState(state: EditState, known: readonly CurveChannel[]): CurveChannel[] {
  const byName = new Map(known.map((channel) => [channelName(channel), channel]));
  return state.channels.map((entry) => {
    const fresh = timesOnly(entry);
    const old = byName.get(channelName(fresh));
    const same =
      old &&
      hasValues(old) &&
      old.times.length === fresh.times.length &&
      old.times.every((time, k) => Math.abs(time - fresh.times[k]) < TIME_TOLERANCE_S);
    return same ? { ...old, extrapolation: fresh.extrapolation } : fresh;
  });
}

export function createModel(): Model {
  const listeners: ((what: ModelChange) => void)[] = [];
  const hidden = new Set<string>();
  let state: EditState | null = null;
  let kept: CurveChannel[] = [];
  let chosen: number[] = [];
  let selection: KeySelection = EMPTY_SELECTION;
  let drag: ReadonlyMap<number, CurveChannel> | null = null;
  let frame: GraphFrame | null = null;
  let normal = false;
  let shownChannels: CurveChannel[] | null = null; // with the preview of a drag
  let lanes: Lane[] | null = null;
  let expected: { names: Set<string>; time: number } | null = null;

  const emit = (what: ModelChange): void => {
    shownChannels = null;
    if (what === "channels") lanes = null;
    for (const listener of listeners) listener(what);
  };
  const isHidden = (channel: number, column: number) => hidden.has(`${channelName(kept[channel])} ${column}`);

  function setChannels(next: CurveChannel[]): void {
    const names = chosen.map((number) => channelName(kept[number]));
    selection = carrySelection(selection, kept, next, channelName);
    chosen = names
      .map((name) => next.findIndex((channel) => channelName(channel) === name))
      .filter((number) => number >= 0);
    kept = next;
    selectExpected();
  }

  function selectExpected(): void {
    if (!expected) return;
    const { names, time } = expected;
    const inserted = new Map<number, Uint8Array>();
    kept.forEach((channel, number) => {
      const key = channel.times.findIndex((keyTime) => Math.abs(keyTime - time) < TIME_TOLERANCE_S);
      if (key < 0 || !names.has(channelName(channel))) return;
      const n = channel.columns.length;
      inserted.set(number, new Uint8Array(channel.times.length * n).fill(1, key * n, (key + 1) * n));
    });
    if (inserted.size < names.size) return;
    selection = inserted;
    expected = null;
  }

  return {
    get state() {
      return state;
    },
    get channels() {
      if (!drag) return kept;
      const now = drag;
      shownChannels ??= kept.map((channel, number) => now.get(number) ?? channel);
      return shownChannels;
    },
    get kept() {
      return kept;
    },
    get chosen() {
      return chosen;
    },
    get lanes() {
      const shown = chosen.filter((number) => hasValues(kept[number]));
      lanes ??= lanesOf(kept, shown, isHidden, normal);
      return lanes;
    },
    get selection() {
      return selection;
    },
    get drag() {
      return drag;
    },
    get frame() {
      return frame;
    },
    get normal() {
      return normal;
    },
    set normal(next: boolean) {
      normal = next;
      emit("channels");
    },
    choose(next) {
      chosen = [...next];
      emit("channels");
    },
    select(next) {
      selection = next;
      emit("selection");
    },
    showDrag(next) {
      drag = next;
      emit("drag");
    },
    adoptDrag() {
      const before = kept;
      const now = drag;
      drag = null;
      kept = kept.map((channel, number) => now?.get(number) ?? channel);
      emit("channels");
      return before;
    },
    restore(before) {
      kept = [...before];
      emit("channels");
    },
    isHidden,
    toggle(channel, column) {
      const name = `${channelName(kept[channel])} ${column}`;
      if (!hidden.delete(name)) hidden.add(name);
      emit("channels");
    },
    expect: (channels, time) => {
      expected = { names: new Set(channels.map((number) => channelName(kept[number]))), time };
    },
    setState(next) {
      const another = next?.edit !== state?.edit;
      state = next;
      if (another) {
        chosen = [];
        selection = EMPTY_SELECTION;
        drag = null;
        kept = [];
      }
      setChannels(next ? mergeState(next, kept) : []);
      emit("channels");
    },
    setFrame(next) {
      frame = next;
      const all = [...kept];
      next.numbers.forEach((number, i) => {
        if (number < all.length) all[number] = next.channels[i];
      });
      setChannels(all);
      emit("channels");
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
