/**
 * What the graph editor knows: all channels of the edit (those that are shown with values and handles, the others with
 * their times), which of them are chosen, which keys are selected, and what a gesture shows before the server has it.
 */
import type { EditState } from "../../protocol/messages";
import { type CurveChannel, channelName } from "./curves";
import type { GraphFrame } from "./graph_file";
import { type Lane, lanesOf } from "./lanes";
import { carried, type KeySelection, NOTHING } from "./selection";

export interface Model {
  readonly state: EditState | null;
  /** As they are seen: with the gesture, where there is one. */
  readonly channels: readonly CurveChannel[];
  /** As the server last said. */
  readonly kept: readonly CurveChannel[];
  /** The channels that the graph shows, by number. */
  readonly chosen: readonly number[];
  readonly lanes: readonly Lane[];
  readonly selection: KeySelection;
  readonly gesture: ReadonlyMap<number, CurveChannel> | null;
  readonly frame: GraphFrame | null; // the last one, for comparison
  normal: boolean; // each curve scaled to fill the height
  choose(channels: readonly number[]): void;
  select(selection: KeySelection): void;
  show(gesture: ReadonlyMap<number, CurveChannel> | null): void;
  /** Takes the gesture as what the server will say next; gives what was before, for `restore` if it refuses. */
  adopt(): readonly CurveChannel[];
  restore(before: readonly CurveChannel[]): void;
  isHidden(channel: number, column: number): boolean;
  toggle(channel: number, column: number): void;
  /** Selects the keys at a time of channels once the server has them: those that are being inserted. */
  expect(channels: readonly number[], time: number): void;
  hear(state: EditState | null): void;
  hearFrame(frame: GraphFrame): void;
  /** Called after each change; `what` is "view" where only the gesture or selection did. */
  onChange(listener: (what: Changed) => void): void;
}

export type Changed = "channels" | "selection" | "gesture";

export const hasValues = (channel: CurveChannel) => channel.values.length > 0;

const NONE = new Float64Array(0);
const NEAR = 1e-4; // seconds: keys are sent as float32

function withoutValues({ target, channel, columns, times, beyond }: EditState["channels"][number]): CurveChannel {
  const segments = new Uint8Array(Math.max(0, times.length - 1));
  return {
    target,
    kind: channel,
    columns,
    times: Float64Array.from(times),
    values: NONE,
    before: NONE,
    after: NONE,
    segments,
    extrapolation: beyond,
  };
}

/** The channels of a new state: what was known of one is kept where its keys are at the same times. */
export function renewed(state: EditState, known: readonly CurveChannel[]): CurveChannel[] {
  const byName = new Map(known.map((each) => [channelName(each), each]));
  return state.channels.map((entry) => {
    const fresh = withoutValues(entry);
    const old = byName.get(channelName(fresh));
    const same =
      old &&
      hasValues(old) &&
      old.times.length === fresh.times.length &&
      old.times.every((time, k) => Math.abs(time - fresh.times[k]) < NEAR);
    return same ? { ...old, extrapolation: fresh.extrapolation } : fresh;
  });
}

export function createModel(): Model {
  const listeners: ((what: Changed) => void)[] = [];
  const hidden = new Set<string>();
  let state: EditState | null = null;
  let kept: CurveChannel[] = [];
  let chosen: number[] = [];
  let selection: KeySelection = NOTHING;
  let gesture: ReadonlyMap<number, CurveChannel> | null = null;
  let frame: GraphFrame | null = null;
  let normal = false;
  let seen: CurveChannel[] | null = null; // with the gesture
  let lanes: Lane[] | null = null;
  let expected: { names: Set<string>; time: number } | null = null;

  const tell = (what: Changed): void => {
    seen = null;
    if (what === "channels") lanes = null;
    for (const listener of listeners) listener(what);
  };
  const isHidden = (channel: number, column: number) => hidden.has(`${channelName(kept[channel])} ${column}`);

  function put(next: CurveChannel[]): void {
    const names = chosen.map((number) => channelName(kept[number]));
    selection = carried(selection, kept, next, channelName);
    chosen = names.map((name) => next.findIndex((each) => channelName(each) === name)).filter((number) => number >= 0);
    kept = next;
    arrive();
  }

  function arrive(): void {
    if (!expected) return;
    const { names, time } = expected;
    const found = new Map<number, Uint8Array>();
    kept.forEach((channel, number) => {
      const key = channel.times.findIndex((each) => Math.abs(each - time) < NEAR);
      if (key < 0 || !names.has(channelName(channel))) return;
      const n = channel.columns.length;
      found.set(number, new Uint8Array(channel.times.length * n).fill(1, key * n, (key + 1) * n));
    });
    if (found.size < names.size) return;
    selection = found;
    expected = null;
  }

  return {
    get state() {
      return state;
    },
    get channels() {
      if (!gesture) return kept;
      const now = gesture;
      seen ??= kept.map((channel, number) => now.get(number) ?? channel);
      return seen;
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
    get gesture() {
      return gesture;
    },
    get frame() {
      return frame;
    },
    get normal() {
      return normal;
    },
    set normal(next: boolean) {
      normal = next;
      tell("channels");
    },
    choose(next) {
      chosen = [...next];
      tell("channels");
    },
    select(next) {
      selection = next;
      tell("selection");
    },
    show(next) {
      gesture = next;
      tell("gesture");
    },
    adopt() {
      const before = kept;
      const now = gesture;
      gesture = null;
      kept = kept.map((channel, number) => now?.get(number) ?? channel);
      tell("channels");
      return before;
    },
    restore(before) {
      kept = [...before];
      tell("channels");
    },
    isHidden,
    toggle(channel, column) {
      const name = `${channelName(kept[channel])} ${column}`;
      if (!hidden.delete(name)) hidden.add(name);
      tell("channels");
    },
    expect: (channels, time) => {
      expected = { names: new Set(channels.map((number) => channelName(kept[number]))), time };
    },
    hear(next) {
      const another = next?.edit !== state?.edit;
      state = next;
      if (another) {
        chosen = [];
        selection = NOTHING;
        gesture = null;
        kept = [];
      }
      put(next ? renewed(next, kept) : []);
      tell("channels");
    },
    hearFrame(next) {
      frame = next;
      const all = [...kept];
      next.numbers.forEach((number, i) => {
        if (number < all.length) all[number] = next.channels[i];
      });
      put(all);
      tell("channels");
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
