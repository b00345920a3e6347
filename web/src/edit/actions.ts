/** What can be done with the edit on stage, by hand, by key or from a list. */
import type { Context } from "../context";
import type { PointRef } from "../protocol/messages";
import type { CurveLayer } from "./curve_layer";
import { frameNear, segmentOf } from "./paths";
import type { EditSession } from "./session";
import { type EditView, samePoint } from "./view";

const NEAR = 2e-3; // seconds: nearer than that is at a key

/** Alone (but for what is held), besides the others, or besides them and away again where it is in hand. */
export type Showing = "alone" | "too" | "toggle";

export interface EditActions {
  /** Edits the clip on stage; where it is being edited already, the server says again how it is. */
  open(): Promise<void>;
  /** Shows the curve of a point and takes it in hand. */
  show(point: PointRef, joint: string, how: Showing): Promise<void>;
  /** Takes a curve in hand, without showing or hiding anything. */
  activate(curve: number | null): void;
  /** Takes what is held in hand, and goes to its time. */
  take(point: PointRef, time: number | null): void;
  hide(curve: number): void;
  hideOthers(): void;
  point(): PointRef | null; // of the curve in hand
  pinned(point: PointRef): boolean;
  togglePin(point: PointRef | null): void;
  hold(point: PointRef | null, time: number): void;
  /** The point stands still between two times: the range of the timeline, or the keys around now where that is all. */
  contact(point: PointRef | null, start?: number, stop?: number): void;
  releasePoint(point: PointRef | null): void;
  release(held: string): void;
  key(): void;
  unkey(): void;
  copyPose(): void;
  pastePose(mirror: boolean): void;
  /** Goes to a time, and stops there. */
  seek(time: number): Promise<void>;
  toKey(sign: 1 | -1): void;
  /** Whether there are curves to edit: a baked clip has to be reduced first. */
  ready(): boolean;
  /** All times that have a key, sorted. */
  keyTimes(): number[];
  atKey(): boolean;
  /** The moment that a time stands for: the very time of a key where one is there, else the nearest frame. */
  moment(time: number): number;
  /** Now, as such a moment. */
  now(): number;
}

/**
 * Times in order, each once: those nearer than a thousandth are the same key. Exactly as they are, since keys are found
 * by them.
 */
export function distinct(times: readonly number[]): number[] {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted.filter((time, i) => i === 0 || time - sorted[i - 1] > 1e-3);
}

export function createEditActions(
  { store, connection, notices }: Context,
  session: EditSession,
  view: EditView,
  layer: CurveLayer,
): EditActions {
  // the joint next to a point of the skin, for the selection that all views share
  const joints = new Map<number, string>();
  let times: { revision: number; edit: string; sorted: number[] } | null = null;

  const point = (): PointRef | null => (view.active === null ? null : (layer.shown(view.active)?.point ?? null));

  function activate(curve: number | null): void {
    view.active = curve;
    if (curve === null) return;
    const joint = layer.shown(curve)?.point.joint || joints.get(curve);
    const before = store.document?.selection ?? [];
    if (joint && (before.length !== 1 || before[0] !== joint))
      connection.request({ kind: "select", names: [joint] }).catch(notices.failed);
  }

  async function show(wanted: PointRef, joint: string, how: Showing): Promise<void> {
    const have = layer.curveOf(wanted);
    if (how === "alone")
      for (const each of session.state?.curves ?? [])
        if (!samePoint(each.point, wanted) && !layer.held(each.point))
          void session.ask({ kind: "editCurve", shown: false, curve: each.curve });
    if (have && how === "toggle" && have.curve === view.active) return hide(have.curve);
    const curve = have?.curve ?? (await session.ask({ kind: "editCurve", shown: true, point: wanted }))?.curve;
    if (curve === undefined) return;
    joints.set(curve, joint);
    activate(curve);
  }

  function hide(curve: number): void {
    void session.ask({ kind: "editCurve", shown: false, curve });
    if (view.active === curve) activate(session.state?.curves.findLast((each) => each.curve !== curve)?.curve ?? null);
  }

  function keyTimes(): number[] {
    const state = session.state;
    if (!state || state.baked) return [];
    if (times?.revision !== state.revision || times.edit !== state.edit) {
      const all = state.channels.flatMap((channel) => channel.times);
      times = { revision: state.revision, edit: state.edit, sorted: distinct(all) };
    }
    return times.sorted;
  }

  const keyAt = (wanted: number): number | undefined => keyTimes().find((time) => Math.abs(time - wanted) < NEAR);
  const moment = (time: number): number => keyAt(time) ?? (layer.paths ? frameNear(layer.paths.times, time) : time);
  const now = (): number => moment(store.time);

  async function seek(time: number): Promise<void> {
    if (store.document?.stage.playing) await session.ask({ kind: "play", playing: false });
    await session.ask({ kind: "seek", time });
  }

  function held(wanted: PointRef): { id: string; point: PointRef }[] {
    const state = session.state;
    return state
      ? [...state.pins, ...state.contacts, ...state.holds].filter((each) => samePoint(each.point, wanted))
      : [];
  }

  // What is held is seen: its curve is shown as long as it is.
  session.onState((state) => {
    if (!state) return;
    if (view.active !== null && !state.curves.some((each) => each.curve === view.active))
      view.active = state.curves.at(-1)?.curve ?? null;
    for (const each of [...state.pins, ...state.contacts, ...state.holds])
      if (!layer.curveOf(each.point) && !asking.has(JSON.stringify(each.point))) {
        const key = JSON.stringify(each.point);
        asking.add(key);
        void session.ask({ kind: "editCurve", shown: true, point: each.point }).finally(() => asking.delete(key));
      }
  });
  const asking = new Set<string>();

  return {
    async open() {
      const character = store.character();
      const first = store.document?.stage.driver === "rest" ? character?.clips[0]?.name : undefined;
      const clip = store.edit()?.clip ?? store.clip()?.name ?? first;
      if (character && clip) await session.ask({ kind: "editOpen", character: character.id, clip });
    },
    show,
    activate,
    take(wanted, time) {
      const curve = layer.curveOf(wanted);
      if (curve) activate(curve.curve);
      if (time !== null) void seek(time);
    },
    hide,
    hideOthers() {
      for (const each of session.state?.curves ?? [])
        if (each.curve !== view.active && !layer.held(each.point)) hide(each.curve);
    },
    point,
    pinned: (wanted) => session.state?.pins.some((each) => samePoint(each.point, wanted)) ?? false,
    togglePin(wanted) {
      if (!wanted) return;
      const pin = session.state?.pins.find((each) => samePoint(each.point, wanted));
      void session.ask(pin ? { kind: "editRelease", held: pin.id } : { kind: "editPin", point: wanted });
    },
    hold(wanted, time) {
      if (!wanted) return;
      const hold = session.state?.holds.find(
        (each) => samePoint(each.point, wanted) && Math.abs(each.time - time) < NEAR,
      );
      void session.ask(hold ? { kind: "editRelease", held: hold.id } : { kind: "editHold", point: wanted, time });
    },
    contact(wanted, start, stop) {
      const state = session.state;
      if (!wanted || !state) return;
      const there = state.contacts.find(
        (each) => samePoint(each.point, wanted) && each.start <= store.time && store.time <= each.stop,
      );
      if (there && start === undefined) return void session.ask({ kind: "editRelease", held: there.id });
      const curve = layer.curveOf(wanted);
      const range = store.document?.stage;
      const narrowed = range && ((range.start ?? 0) > 0 || (range.stop ?? state.seconds) < state.seconds - 1e-6);
      const around = segmentOf(curve ? layer.keys(curve.curve) : keyTimes(), store.time, state.seconds);
      const span = narrowed
        ? { start: range.start ?? 0, stop: Math.min(range.stop ?? state.seconds, state.seconds) }
        : around;
      void session.ask({ kind: "editContact", point: wanted, start: start ?? span.start, stop: stop ?? span.stop });
    },
    releasePoint(wanted) {
      if (wanted) for (const each of held(wanted)) void session.ask({ kind: "editRelease", held: each.id });
    },
    release: (id) => void session.ask({ kind: "editRelease", held: id }),
    key: () => void session.ask({ kind: "editKey", time: now() }),
    unkey: () => void session.ask({ kind: "editUnkey", time: now() }),
    copyPose() {
      const time = now();
      const said = (): void =>
        notices.show(
          "info",
          `The pose at ${time.toFixed(2)} s is copied.`,
          "Ctrl V pastes it as keys, Ctrl Shift V with left and right exchanged.",
        );
      connection.request({ kind: "editCopyPose", time }).then(said, notices.failed);
    },
    pastePose: (mirror) => void session.ask({ kind: "editPastePose", time: now(), mirror }),
    seek,
    toKey(sign) {
      const all = keyTimes();
      const next =
        sign > 0 ? all.find((time) => time > store.time + NEAR) : all.findLast((time) => time < store.time - NEAR);
      if (next !== undefined) void seek(next);
    },
    ready: () => session.state !== null && !session.state.baked,
    keyTimes,
    atKey: () => keyAt(now()) !== undefined,
    moment,
    now,
  };
}
