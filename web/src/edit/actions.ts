/** The actions of the edit mode, for pointer, keys and lists. */
import type { Context } from "../context";
import type { PointRef } from "../protocol/messages";
import type { CurveLayer } from "./curve_layer";
import { nearestFrameTime, segmentOf } from "./paths";
import type { EditSession } from "./session";
import { type EditView, samePoint } from "./view";

const KEY_TOLERANCE_S = 2e-3; // a time this close to a key is at the key

/** Shows a curve alone (except for constrained points), in addition to others, or toggles it if it is active. */
export type ShowMode = "alone" | "too" | "toggle";

export interface EditActions {
  /** Opens the clip on stage for editing; if it is open already, the server sends its state again. */
  open(): Promise<void>;
  /** Puts a clip on stage for editing, at its beginning; nothing happens if it is open or being opened. */
  openClip(character: string, clip: string): Promise<void>;
  /** Whether an answer to `open` or `openClip` is awaited. */
  isOpening(): boolean;
  /** Shows the curve of a point and makes it active; false if the server refused. */
  show(point: PointRef, joint: string, how: ShowMode): Promise<boolean>;
  /** Makes a curve active, without showing or hiding any. */
  activate(curve: number | null): void;
  /** Makes the curve of a constrained point active, and seeks to its time. */
  focusPoint(point: PointRef, time: number | null): void;
  hide(curve: number): void;
  hideOthers(): void;
  point(): PointRef | null; // of the active curve
  isPinned(point: PointRef): boolean;
  togglePin(point: PointRef | null): void;
  hold(point: PointRef | null, time: number): void;
  /**
   * Adds a contact: the point stands still between two times. By default these are the range of the timeline, or else
   * the keys around the current time.
   */
  contact(point: PointRef | null, start?: number, stop?: number): void;
  releasePoint(point: PointRef | null): void;
  /** Holds the feet that stand while something else is dragged, or does not. */
  toggleFeet(): void;
  /** Holds the foot that stands at a time, or lets it go. */
  holdFoot(joint: string, time: number, hold: boolean): void;
  release(held: string): void;
  key(): void;
  unkey(): void;
  copyPose(): void;
  pastePose(mirror: boolean): void;
  /** Pauses and seeks to a time. */
  seek(time: number): Promise<void>;
  toKey(sign: 1 | -1): void;
  /** Whether there is a clip to edit. */
  ready(): boolean;
  /** Whether every frame is a key: points can be moved, but there are no keys to pose. */
  isBaked(): boolean;
  /** The times of all keys, sorted. */
  keyTimes(): number[];
  atKey(): boolean;
  /** The time of the key at a time if there is one, else the time of the nearest frame. */
  moment(time: number): number;
  /** The current time, rounded like `moment`. */
  now(): number;
}

/**
 * Sorted times without duplicates: times within a millisecond are the same key. The values stay exact, as keys are
 * found by them.
 */
export function distinctTimes(times: readonly number[]): number[] {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted.filter((time, i) => i === 0 || time - sorted[i - 1] > 1e-3);
}

export function createEditActions(
  { store, connection, notices }: Context,
  session: EditSession,
  view: EditView,
  layer: CurveLayer,
): EditActions {
  // The joint nearest to a point of the skin, for the selection that all views share.
  const joints = new Map<number, string>();
  let times: { revision: number; edit: string; sorted: number[] } | null = null;

  const point = (): PointRef | null => (view.active === null ? null : (layer.curveEntry(view.active)?.point ?? null));

  function activate(curve: number | null): void {
    view.active = curve;
    if (curve === null) return;
    const joint = layer.curveEntry(curve)?.point.joint || joints.get(curve);
    const before = store.document?.selection ?? [];
    if (joint && (before.length !== 1 || before[0] !== joint))
      connection.request({ kind: "select", names: [joint] }).catch(notices.showError);
  }

  const requestedClips: string[] = []; // those that are being opened; the last one stays
  async function openClip(character: string, clip: string): Promise<void> {
    const key = JSON.stringify([character, clip]);
    requestedClips.push(key);
    await session.ask({ kind: "editOpen", character, clip });
    requestedClips.splice(requestedClips.indexOf(key), 1);
  }
  /** Whether the edit of a clip is on stage, or will be. */
  function isOpen(character: string, clip: string): boolean {
    if (requestedClips.length) return requestedClips.at(-1) === JSON.stringify([character, clip]);
    const state = session.state;
    return state?.character === character && state.clip === clip && state.edit === store.edit()?.id;
  }

  async function show(wanted: PointRef, joint: string, how: ShowMode): Promise<boolean> {
    const existing = layer.curveOf(wanted);
    if (how === "alone")
      for (const entry of session.state?.curves ?? [])
        if (!samePoint(entry.point, wanted) && !layer.isHeld(entry.point))
          void session.ask({ kind: "editCurve", shown: false, curve: entry.curve });
    if (existing && how === "toggle" && existing.curve === view.active) {
      hide(existing.curve);
      return true;
    }
    const curve = existing?.curve ?? (await session.ask({ kind: "editCurve", shown: true, point: wanted }))?.curve;
    if (curve === undefined) return false;
    joints.set(curve, joint);
    activate(curve);
    return true;
  }

  function hide(curve: number): void {
    void session.ask({ kind: "editCurve", shown: false, curve });
    if (view.active === curve)
      activate(session.state?.curves.findLast((entry) => entry.curve !== curve)?.curve ?? null);
  }

  function keyTimes(): number[] {
    const state = session.state;
    if (!state || state.baked) return [];
    if (times?.revision !== state.revision || times.edit !== state.edit) {
      const all = state.channels.flatMap((channel) => channel.times);
      times = { revision: state.revision, edit: state.edit, sorted: distinctTimes(all) };
    }
    return times.sorted;
  }

  const keyAt = (wanted: number): number | undefined =>
    keyTimes().find((time) => Math.abs(time - wanted) < KEY_TOLERANCE_S);
  const moment = (time: number): number =>
    keyAt(time) ?? (layer.paths ? nearestFrameTime(layer.paths.times, time) : time);
  const now = (): number => moment(store.time);

  async function seek(time: number): Promise<void> {
    if (store.document?.stage.playing) await session.ask({ kind: "play", playing: false });
    await session.ask({ kind: "seek", time });
  }

  function constraintsOf(wanted: PointRef): { id: string; point: PointRef }[] {
    const state = session.state;
    return state
      ? [...state.pins, ...state.contacts, ...state.holds].filter((constraint) => samePoint(constraint.point, wanted))
      : [];
  }

  // The curves of constrained points are always shown.
  session.onState((state) => {
    if (!state) return;
    if (view.active !== null && !state.curves.some((entry) => entry.curve === view.active))
      view.active = state.curves.at(-1)?.curve ?? null;
    for (const constraint of [...state.pins, ...state.contacts, ...state.holds])
      if (!layer.curveOf(constraint.point) && !requestedPoints.has(JSON.stringify(constraint.point))) {
        const key = JSON.stringify(constraint.point);
        requestedPoints.add(key);
        void session
          .ask({ kind: "editCurve", shown: true, point: constraint.point })
          .finally(() => requestedPoints.delete(key));
      }
  });
  const requestedPoints = new Set<string>();

  return {
    async open() {
      const character = store.character();
      const first = store.document?.stage.driver === "rest" ? character?.clips[0]?.name : undefined;
      const clip = store.edit()?.clip ?? store.clip()?.name ?? first;
      if (character && clip) await openClip(character.id, clip);
    },
    async openClip(character, clip) {
      if (!isOpen(character, clip)) await openClip(character, clip);
    },
    isOpening: () => requestedClips.length > 0,
    show,
    activate,
    focusPoint(wanted, time) {
      const curve = layer.curveOf(wanted);
      if (curve) activate(curve.curve);
      if (time !== null) void seek(time);
    },
    hide,
    hideOthers() {
      for (const entry of session.state?.curves ?? [])
        if (entry.curve !== view.active && !layer.isHeld(entry.point)) hide(entry.curve);
    },
    point,
    isPinned: (wanted) => session.state?.pins.some((pin) => samePoint(pin.point, wanted)) ?? false,
    togglePin(wanted) {
      if (!wanted) return;
      const pin = session.state?.pins.find((entry) => samePoint(entry.point, wanted));
      void session.ask(pin ? { kind: "editRelease", held: pin.id } : { kind: "editPin", point: wanted });
    },
    hold(wanted, time) {
      if (!wanted) return;
      const hold = session.state?.holds.find(
        (entry) => samePoint(entry.point, wanted) && Math.abs(entry.time - time) < KEY_TOLERANCE_S,
      );
      void session.ask(hold ? { kind: "editRelease", held: hold.id } : { kind: "editHold", point: wanted, time });
    },
    contact(wanted, start, stop) {
      const state = session.state;
      if (!wanted || !state) return;
      const existing = state.contacts.find(
        (entry) => samePoint(entry.point, wanted) && entry.start <= store.time && store.time <= entry.stop,
      );
      if (existing && start === undefined) return void session.ask({ kind: "editRelease", held: existing.id });
      const curve = layer.curveOf(wanted);
      const range = store.document?.stage;
      const hasRange = range && ((range.start ?? 0) > 0 || (range.stop ?? state.seconds) < state.seconds - 1e-6);
      const around = segmentOf(curve ? layer.keys(curve.curve) : keyTimes(), store.time, state.seconds);
      const span = hasRange
        ? { start: range.start ?? 0, stop: Math.min(range.stop ?? state.seconds, state.seconds) }
        : around;
      void session.ask({ kind: "editContact", point: wanted, start: start ?? span.start, stop: stop ?? span.stop });
    },
    releasePoint(wanted) {
      if (wanted)
        for (const constraint of constraintsOf(wanted)) void session.ask({ kind: "editRelease", held: constraint.id });
    },
    toggleFeet: () => void session.ask({ kind: "editHoldFeet", hold: !(session.state?.holdFeet ?? false) }),
    holdFoot: (joint, time, hold) => void session.ask({ kind: "editHoldFoot", joint, time, hold }),
    release: (id) => void session.ask({ kind: "editRelease", held: id }),
    key: () => void session.ask({ kind: "editKey", time: now() }),
    unkey: () => void session.ask({ kind: "editUnkey", time: now() }),
    copyPose() {
      const time = now();
      const showCopied = (): void =>
        notices.show(
          "info",
          `The pose at ${time.toFixed(2)} s is copied.`,
          "Ctrl V pastes it as keys, Ctrl Shift V with left and right exchanged.",
        );
      connection.request({ kind: "editCopyPose", time }).then(showCopied, notices.showError);
    },
    pastePose: (mirror) => void session.ask({ kind: "editPastePose", time: now(), mirror }),
    seek,
    toKey(sign) {
      const all = keyTimes();
      const next =
        sign > 0
          ? all.find((time) => time > store.time + KEY_TOLERANCE_S)
          : all.findLast((time) => time < store.time - KEY_TOLERANCE_S);
      if (next !== undefined) void seek(next);
    },
    ready: () => session.state !== null,
    isBaked: () => session.state?.baked ?? false,
    keyTimes,
    atKey: () => keyAt(now()) !== undefined,
    moment,
    now,
  };
}
