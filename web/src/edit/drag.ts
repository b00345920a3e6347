/**
 * Drags: a point is grabbed at a time, and follows the pointer until it is released. The server solves; the page sends
 * goals at the rate of the pointer, without waiting for answers.
 */
import { Quaternion, type Ray, type Vector3 } from "three";
import type { Context } from "../context";
import type {
  EditBeginRequest,
  EditBegun,
  EditEndRequest,
  EditOutcomeEvent,
  EditPoseBeginRequest,
  EditPoseEndRequest,
  PointRef,
} from "../protocol/messages";
import {
  AXES,
  type Axis,
  angleAbout,
  axisParameter,
  intersectPlane,
  rotateBy,
  timeFactor,
  triple,
  vector,
} from "./geometry";
import type { Latencies } from "./latency";
import type { EditSession } from "./session";
import type { EditView } from "./view";

export type Operation = "move" | "turn" | "time";
const FINE_RATIO = 0.2; // of the pointer's motion, while Shift is held
export const TEXT_INTERVAL_MS = 100; // between two updates of the texts beside the stage
const SEND_INTERVAL_MS = 8; // minimum between two goals; some mice report a thousand positions a second
// below this cosine between ring and view, the drag is measured along the ring on the screen
const EDGE_ON_COSINE = 0.25;
export const MIN_FALLOFF_S = 0.05;
export const MAX_FALLOFF_S = 10;
const FALLOFF_WHEEL_RATE = 1e-3; // of the logarithm, for a pixel of the wheel: a notch of 100 px is 10 %

/** The falloff after a turn of the wheel by some pixels; forwards is wider. */
export const wheelFalloff = (radius: number, deltaY: number): number =>
  Math.min(MAX_FALLOFF_S, Math.max(MIN_FALLOFF_S, radius * Math.exp(-FALLOFF_WHEEL_RATE * deltaY)));

export interface Grip {
  operation: Operation;
  point: PointRef;
  name: string;
  time: number;
  posing: boolean;
  keys?: boolean; // in a pose: channels without a key may move too, and get one
  axis?: Vector3; // in world space: the axis of the grabbed handle
  /** The screen direction that makes it faster. */
  faster?: { x: number; y: number };
}

export interface PointerAt {
  x: number; // CSS px on the canvas
  y: number;
  fine: boolean;
  at: number; // ms, time of the pointer event
}

export interface ActiveDrag extends Grip {
  begun: EditBegun | null; // null until the server has answered
  lock: { axis: Axis; local: boolean } | null;
  readout: string; // text: how far the drag goes
  outcome: EditOutcomeEvent | null;
}

export interface DragController {
  readonly active: ActiveDrag | null;
  /** The number of the last drag if it was cancelled; 0 if it was committed. */
  readonly cancelled: number;
  /** Makes the window of the current drag wider or narrower, by pixels of the wheel; returns whether there is one. */
  turnWheel(deltaY: number): boolean;
  /** Asks the server to prepare a drag, for a press that may become one. */
  prepare(grip: Grip): void;
  /** Discards the prepared drag, if the press was a click. */
  discardPrepared(): void;
  begin(grip: Grip, at: PointerAt): void;
  move(at: PointerAt): void;
  /** Locks the drag to a world axis, then to the local axis, then to none. */
  lock(axis: Axis): void;
  end(commit: boolean): Promise<void>;
  onChange(listener: () => void): void;
  /** Called with the goal position; null if the goal is not a position. */
  onGoal(listener: (to: [number, number, number] | null) => void): void;
}

/** A goal of a drag, as in the request. */
type Goal = { to?: [number, number, number]; turn?: [number, number, number, number]; factor?: number };

export function createDragController(
  { stage, connection }: Context,
  session: EditSession,
  latencies: Latencies,
  view: EditView,
): DragController {
  const listeners: (() => void)[] = [];
  const goalListeners: ((to: [number, number, number] | null) => void)[] = [];
  let active: (ActiveDrag & { number: number; ends: boolean | null }) | null = null;
  let lastNumber = 0;
  let cancelled = 0;
  let from: PointerAt | null = null; // where the drag began; shifted while Shift slows the drag
  let last: PointerAt | null = null;
  let rotation = { angle: 0, seen: 0 };

  /** Shows the window of the drag; a new object only where it has changed, as every listener redraws for it. */
  function setReach(time: number, radius: number | null): void {
    const { reach } = view;
    if (radius === null) view.reach = null;
    else if (reach?.start !== time || reach.radius !== radius) view.reach = { start: time, stop: time, radius };
  }

  const emitChange = (): void => {
    for (const listener of listeners) listener();
  };
  let changeTimer = 0;
  /** Texts are updated later, so that the stage is drawn first. */
  const scheduleChange = (): void => {
    if (changeTimer) return;
    changeTimer = window.setTimeout(() => {
      changeTimer = 0;
      emitChange();
    }, TEXT_INTERVAL_MS);
  };
  let sentAt = -Infinity; // ms
  let sendTimer = 0;
  /** Sends the newest goal, now or as soon as the interval has passed. */
  function scheduleSend(): void {
    if (sendTimer) return;
    const wait = sentAt + SEND_INTERVAL_MS - performance.now();
    if (wait <= 0) return void (last && send(last));
    sendTimer = window.setTimeout(() => {
      sendTimer = 0;
      if (last) send(last);
    }, wait);
  }
  const facing = (): Vector3 => stage.pointerRay(stage.size.width / 2, stage.size.height / 2).ray.direction;
  const rayAt = (at: { x: number; y: number }): Ray => stage.pointerRay(at.x, at.y).ray;

  function axisOf(now: ActiveDrag): Vector3 | null {
    if (!now.lock) return now.axis ?? null;
    const axis = AXES[now.lock.axis].clone();
    const turn = now.begun?.turn;
    return now.lock.local && turn ? axis.applyQuaternion(new Quaternion(...turn)) : axis;
  }

  function moveGoal(now: ActiveDrag, begun: EditBegun, start: PointerAt, at: PointerAt): Goal {
    const origin = vector(begun.place);
    const axis = axisOf(now);
    const goal = origin.clone();
    if (axis) {
      const [a, b] = [axisParameter(rayAt(start), origin, axis), axisParameter(rayAt(at), origin, axis)];
      if (a !== null && b !== null) goal.addScaledVector(axis, b - a);
    } else {
      const normal = facing();
      const [a, b] = [intersectPlane(rayAt(start), origin, normal), intersectPlane(rayAt(at), origin, normal)];
      if (a && b) goal.add(b).sub(a);
    }
    now.readout = formatLength(goal.distanceTo(origin));
    return { to: triple(goal) };
  }

  function turnGoal(now: ActiveDrag, begun: EditBegun, start: PointerAt, at: PointerAt): Goal {
    const centre = vector(begun.place);
    const view = facing();
    const axis = axisOf(now) ?? view.clone().negate();
    let angle: number;
    const [a, b] = [intersectPlane(rayAt(start), centre, axis), intersectPlane(rayAt(at), centre, axis)];
    if (Math.abs(axis.dot(view)) > EDGE_ON_COSINE && a && b) angle = angleAbout(axis, centre, a, b);
    else {
      const middle = stage.project(begun.place);
      const tip = stage.project(triple(centre.clone().addScaledVector(axis, 0.05 * (session.state?.size ?? 1))));
      const along = Math.hypot(tip.x - middle.x, tip.y - middle.y) || 1;
      angle = ((at.x - start.x) * -(tip.y - middle.y) + (at.y - start.y) * (tip.x - middle.x)) / along / -90;
    }
    // A jump of the angle by a full turn means that the drag went past half a turn.
    rotation.angle += angle - rotation.seen - 2 * Math.PI * Math.round((angle - rotation.seen) / (2 * Math.PI));
    rotation.seen = angle;
    now.readout = `${((180 * rotation.angle) / Math.PI).toFixed(1)}°`;
    return { turn: rotateBy(begun.turn, axis, rotation.angle) };
  }

  function timeGoal(now: ActiveDrag, start: PointerAt, at: PointerAt): Goal {
    const { x, y } = now.faster ?? { x: 1, y: 0 };
    const factor = timeFactor((at.x - start.x) * x + (at.y - start.y) * y);
    now.readout = factor >= 1 ? `${factor.toFixed(2)} × as fast` : `${(1 / factor).toFixed(2)} × as slow`;
    return { factor };
  }

  function send(at: PointerAt): void {
    if (!active?.begun || !from) return;
    const { begun } = active;
    const goal =
      active.operation === "move"
        ? moveGoal(active, begun, from, at)
        : active.operation === "turn"
          ? turnGoal(active, begun, from, at)
          : timeGoal(active, from, at);
    for (const listener of goalListeners) listener(goal.to ?? null);
    sentAt = performance.now();
    const number = ++lastNumber;
    active.number = number;
    if (active.posing)
      session.tell({
        kind: "editPoseDrag",
        gesture: begun.gesture,
        number,
        to: goal.to ?? null,
        turn: goal.turn ?? null,
      });
    else
      session.tell({
        kind: "editDrag",
        gesture: begun.gesture,
        number,
        to: goal.to ?? null,
        turn: goal.turn ?? null,
        factor: goal.factor ?? null,
        falloff: view.falloff,
      });
    latencies.recordSent(number, at.at, performance.now());
  }

  connection.on("editOutcome", (outcome) => {
    if (outcome.released) return; // an answer to the release, not to a goal
    latencies.recordAnswer(outcome.number, outcome.frame, outcome.ms, performance.now());
    if (!active || outcome.gesture !== active.begun?.gesture) return;
    active.outcome = outcome;
    setReach(active.time, outcome.radius);
    scheduleChange();
  });

  function beginRequest({ operation, point, time, posing, keys }: Grip): EditBeginRequest | EditPoseBeginRequest {
    if (!posing) return { kind: "editBegin", operation, point, time, falloff: view.falloff };
    const pins = session.state?.pins.map((pin) => pin.point) ?? [];
    return {
      kind: "editPoseBegin",
      point,
      time,
      operation: operation === "turn" ? "turn" : "move",
      pins,
      key: keys ?? false,
    };
  }
  const endRequest = (posing: boolean, gesture: number, commit: boolean): EditEndRequest | EditPoseEndRequest => ({
    kind: posing ? "editPoseEnd" : "editEnd",
    gesture,
    commit,
  });

  let prepared: { grip: Grip; begun: Promise<EditBegun | null> } | null = null;
  session.onState(() => {
    prepared = null; // it belongs to old curves
  });

  function prepare(grip: Grip): void {
    if (active) return;
    discardPrepared();
    // If it is refused, it is requested again when the drag begins, and the reason is shown then.
    prepared = { grip, begun: connection.request(beginRequest(grip)).catch(() => null) };
  }

  function discardPrepared(): void {
    const drag = prepared;
    prepared = null;
    void drag?.begun.then(
      (begun) => begun && connection.request(endRequest(drag.grip.posing, begun.gesture, false)).catch(() => null),
    );
  }

  async function requestBegin(grip: Grip): Promise<EditBegun | null> {
    const drag = prepared?.grip === grip ? prepared : null;
    if (drag) prepared = null;
    else discardPrepared();
    return (await drag?.begun) ?? session.ask(beginRequest(grip));
  }

  async function end(commit: boolean): Promise<void> {
    const drag = active;
    if (!drag) return;
    if (sendTimer) {
      // The pending goal is the one at the release.
      clearTimeout(sendTimer);
      sendTimer = 0;
      if (commit && last) send(last);
    }
    if (!drag.begun) {
      drag.ends = commit; // as soon as the server has answered
      return;
    }
    const { gesture } = drag.begun;
    active = null;
    cancelled = commit ? 0 : gesture;
    latencies.dropPending();
    emitChange();
    await session.ask(endRequest(drag.posing, gesture, commit));
  }

  return {
    get active() {
      return active;
    },
    get cancelled() {
      return cancelled;
    },
    turnWheel(deltaY) {
      if (!active || !view.reach || active.posing || active.operation === "time") return false;
      const radius = Math.round(1000 * wheelFalloff(view.reach.radius, deltaY)) / 1000;
      view.falloff = radius;
      setReach(active.time, radius);
      if (last) scheduleSend();
      emitChange();
      return true;
    },
    prepare,
    discardPrepared: discardPrepared,
    begin(grip, at) {
      if (active) return;
      const drag = { ...grip, begun: null, lock: null, readout: "", outcome: null, number: 0, ends: null };
      active = drag;
      view.reach = null;
      from = last = at;
      rotation = { angle: 0, seen: 0 };
      emitChange();
      void requestBegin(grip).then((begun) => {
        if (active !== drag) return;
        if (!begun) {
          active = null;
          emitChange();
          return;
        }
        active.begun = begun;
        if (last && last !== from) send(last);
        emitChange();
        if (active.ends !== null) void end(active.ends);
      });
    },
    move(at) {
      if (!active || !from || !last) return;
      if (at.fine) {
        // Slow the drag by moving its start with the pointer.
        const share = 1 - FINE_RATIO;
        from = { ...from, x: from.x + share * (at.x - last.x), y: from.y + share * (at.y - last.y) };
      }
      last = at;
      if (active.begun) scheduleSend();
      scheduleChange();
    },
    lock(axis) {
      if (!active || active.operation === "time") return;
      const { lock } = active;
      active.lock = lock?.axis !== axis ? { axis, local: false } : lock.local ? null : { axis, local: true };
      rotation = { angle: 0, seen: 0 };
      if (last) send(last);
      emitChange();
    },
    end,
    onChange: (listener) => void listeners.push(listener),
    onGoal: (listener) => void goalListeners.push(listener),
  };
}

/** A length with a suitable unit. */
export function formatLength(length: number): string {
  if (length < 0.01) return `${(1000 * length).toFixed(1)} mm`;
  return length < 1 ? `${(100 * length).toFixed(1)} cm` : `${length.toFixed(2)} m`;
}
