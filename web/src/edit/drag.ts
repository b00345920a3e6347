/**
 * A gesture: a point is taken hold of at a time, and goes where the pointer is until it is let go. The server does the
 * work; the page says where to, at pointer rate, and waits for no answer.
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
import { AXES, type Axis, alongAxis, angleAbout, factorOf, onPlane, triple, turnedBy, vector } from "./geometry";
import type { Latencies } from "./latency";
import type { EditSession } from "./session";

export type Operation = "move" | "turn" | "time";
const FINE = 0.2; // of the pointer's way, while Shift is held
export const SAYS = 100; // ms between two changes of what is said beside the picture: faster could not be read
const PACE = 8; // ms between two goals at least: some mice tell a thousand places a second
const EDGE_ON = 0.25; // the cosine below which a ring is seen so flat that the pointer's way along it counts

export interface Grip {
  operation: Operation;
  point: PointRef;
  name: string;
  time: number;
  posing: boolean;
  keys?: boolean; // of a pose: channels without a key there may move too, and get one
  axis?: Vector3; // of the world: the handle that was taken
  /** Which way on the screen makes it faster. */
  faster?: { x: number; y: number };
}

export interface PointerAt {
  x: number; // CSS px on the canvas
  y: number;
  fine: boolean;
  at: number; // ms, when the hand did it
}

export interface Going extends Grip {
  begun: EditBegun | null; // null until the server has answered
  lock: { axis: Axis; local: boolean } | null;
  said: string; // how far it goes, for the readout
  outcome: EditOutcomeEvent | null;
}

export interface Gestures {
  readonly going: Going | null;
  /** The number of the last gesture, where it was taken back; 0 where it was kept. */
  readonly cancelled: number;
  /** A press that may become this gesture: the server makes ready for it. */
  prepare(grip: Grip): void;
  /** It was a click. */
  forget(): void;
  begin(grip: Grip, at: PointerAt): void;
  move(at: PointerAt): void;
  /** Locks the gesture to an axis of the world, then of the point, then to none. */
  lock(axis: Axis): void;
  end(commit: boolean): Promise<void>;
  onChange(listener: () => void): void;
  /** Hears where the point should be; null where that is no place. */
  onGoal(listener: (to: [number, number, number] | null) => void): void;
}

/** A goal as the server takes it. */
type Goal = { to?: [number, number, number]; turn?: [number, number, number, number]; factor?: number };

export function createGestures({ stage, connection }: Context, session: EditSession, latencies: Latencies): Gestures {
  const listeners: (() => void)[] = [];
  const goalListeners: ((to: [number, number, number] | null) => void)[] = [];
  let going: (Going & { number: number; ends: boolean | null }) | null = null;
  let numbers = 0;
  let cancelled = 0;
  let from: PointerAt | null = null; // where the pointer took hold; moved along while the hand is slowed
  let last: PointerAt | null = null;
  let sum = { angle: 0, seen: 0 };

  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  let soon = 0;
  /** What is said beside the picture waits: the picture comes first. */
  const changedSoon = (): void => {
    if (soon) return;
    soon = window.setTimeout(() => {
      soon = 0;
      changed();
    }, SAYS);
  };
  let sentAt = -Infinity; // ms
  let later = 0;
  /** Sends a goal at once, or as soon as the last is old enough, and by then the newest. */
  function paced(): void {
    if (later) return;
    const wait = sentAt + PACE - performance.now();
    if (wait <= 0) return void (last && send(last));
    later = window.setTimeout(() => {
      later = 0;
      if (last) send(last);
    }, wait);
  }
  const facing = (): Vector3 => stage.pointerRay(stage.size.width / 2, stage.size.height / 2).ray.direction;
  const rayAt = (at: { x: number; y: number }): Ray => stage.pointerRay(at.x, at.y).ray;

  function axisOf(now: Going): Vector3 | null {
    if (!now.lock) return now.axis ?? null;
    const axis = AXES[now.lock.axis].clone();
    const turn = now.begun?.turn;
    return now.lock.local && turn ? axis.applyQuaternion(new Quaternion(...turn)) : axis;
  }

  function moveGoal(now: Going, begun: EditBegun, start: PointerAt, at: PointerAt): Goal {
    const origin = vector(begun.place);
    const axis = axisOf(now);
    const goal = origin.clone();
    if (axis) {
      const [a, b] = [alongAxis(rayAt(start), origin, axis), alongAxis(rayAt(at), origin, axis)];
      if (a !== null && b !== null) goal.addScaledVector(axis, b - a);
    } else {
      const normal = facing();
      const [a, b] = [onPlane(rayAt(start), origin, normal), onPlane(rayAt(at), origin, normal)];
      if (a && b) goal.add(b).sub(a);
    }
    now.said = metres(goal.distanceTo(origin));
    return { to: triple(goal) };
  }

  function turnGoal(now: Going, begun: EditBegun, start: PointerAt, at: PointerAt): Goal {
    const centre = vector(begun.place);
    const view = facing();
    const axis = axisOf(now) ?? view.clone().negate();
    let angle: number;
    const [a, b] = [onPlane(rayAt(start), centre, axis), onPlane(rayAt(at), centre, axis)];
    if (Math.abs(axis.dot(view)) > EDGE_ON && a && b) angle = angleAbout(axis, centre, a, b);
    else {
      const middle = stage.project(begun.place);
      const tip = stage.project(triple(centre.clone().addScaledVector(axis, 0.05 * (session.state?.size ?? 1))));
      const along = Math.hypot(tip.x - middle.x, tip.y - middle.y) || 1;
      angle = ((at.x - start.x) * -(tip.y - middle.y) + (at.y - start.y) * (tip.x - middle.x)) / along / -90;
    }
    // An angle that jumps by a turn has gone on beyond half a turn.
    sum.angle += angle - sum.seen - 2 * Math.PI * Math.round((angle - sum.seen) / (2 * Math.PI));
    sum.seen = angle;
    now.said = `${((180 * sum.angle) / Math.PI).toFixed(1)}°`;
    return { turn: turnedBy(begun.turn, axis, sum.angle) };
  }

  function timeGoal(now: Going, start: PointerAt, at: PointerAt): Goal {
    const { x, y } = now.faster ?? { x: 1, y: 0 };
    const factor = factorOf((at.x - start.x) * x + (at.y - start.y) * y);
    now.said = factor >= 1 ? `${factor.toFixed(2)} × as fast` : `${(1 / factor).toFixed(2)} × as slow`;
    return { factor };
  }

  function send(at: PointerAt): void {
    if (!going?.begun || !from) return;
    const { begun } = going;
    const goal =
      going.operation === "move"
        ? moveGoal(going, begun, from, at)
        : going.operation === "turn"
          ? turnGoal(going, begun, from, at)
          : timeGoal(going, from, at);
    for (const listener of goalListeners) listener(goal.to ?? null);
    sentAt = performance.now();
    const number = ++numbers;
    going.number = number;
    if (going.posing)
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
      });
    latencies.told(number, at.at, performance.now());
  }

  connection.on("editOutcome", (outcome) => {
    latencies.heard(outcome.number, outcome.frame, outcome.ms, performance.now());
    if (!going || outcome.gesture !== going.begun?.gesture) return;
    going.outcome = outcome;
    changedSoon();
  });

  function beginning({ operation, point, time, posing, keys }: Grip): EditBeginRequest | EditPoseBeginRequest {
    if (!posing) return { kind: "editBegin", operation, point, time };
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
  const ending = (posing: boolean, gesture: number, commit: boolean): EditEndRequest | EditPoseEndRequest => ({
    kind: posing ? "editPoseEnd" : "editEnd",
    gesture,
    commit,
  });

  let prepared: { grip: Grip; begun: Promise<EditBegun | null> } | null = null;
  session.onState(() => {
    prepared = null; // of curves that are others now
  });

  function prepare(grip: Grip): void {
    if (going) return;
    forget();
    // What is refused is asked again, and said, where it is more than a click.
    prepared = { grip, begun: connection.request(beginning(grip)).catch(() => null) };
  }

  function forget(): void {
    const mine = prepared;
    prepared = null;
    void mine?.begun.then(
      (begun) => begun && connection.request(ending(mine.grip.posing, begun.gesture, false)).catch(() => null),
    );
  }

  async function asked(grip: Grip): Promise<EditBegun | null> {
    const mine = prepared?.grip === grip ? prepared : null;
    if (mine) prepared = null;
    else forget();
    return (await mine?.begun) ?? session.ask(beginning(grip));
  }

  async function end(commit: boolean): Promise<void> {
    const mine = going;
    if (!mine) return;
    if (later) {
      // the last goal that waits is the one that the hand let go at
      clearTimeout(later);
      later = 0;
      if (commit && last) send(last);
    }
    if (!mine.begun) {
      mine.ends = commit; // as soon as it has begun
      return;
    }
    const { gesture } = mine.begun;
    going = null;
    cancelled = commit ? 0 : gesture;
    latencies.rest();
    changed();
    await session.ask(ending(mine.posing, gesture, commit));
  }

  return {
    get going() {
      return going;
    },
    get cancelled() {
      return cancelled;
    },
    prepare,
    forget,
    begin(grip, at) {
      if (going) return;
      const mine = { ...grip, begun: null, lock: null, said: "", outcome: null, number: 0, ends: null };
      going = mine;
      from = last = at;
      sum = { angle: 0, seen: 0 };
      changed();
      void asked(grip).then((begun) => {
        if (going !== mine) return;
        if (!begun) {
          going = null;
          changed();
          return;
        }
        going.begun = begun;
        if (last && last !== from) send(last);
        changed();
        if (going.ends !== null) void end(going.ends);
      });
    },
    move(at) {
      if (!going || !from || !last) return;
      if (at.fine) {
        // The hand is slowed by letting the place where it took hold follow.
        const share = 1 - FINE;
        from = { ...from, x: from.x + share * (at.x - last.x), y: from.y + share * (at.y - last.y) };
      }
      last = at;
      if (going.begun) paced();
      changedSoon();
    },
    lock(axis) {
      if (!going || going.operation === "time") return;
      const { lock } = going;
      going.lock = lock?.axis !== axis ? { axis, local: false } : lock.local ? null : { axis, local: true };
      sum = { angle: 0, seen: 0 };
      if (last) send(last);
      changed();
    },
    end,
    onChange: (listener) => void listeners.push(listener),
    onGoal: (listener) => void goalListeners.push(listener),
  };
}

/** A length as people say it. */
export function metres(length: number): string {
  if (length < 0.01) return `${(1000 * length).toFixed(1)} mm`;
  return length < 1 ? `${(100 * length).toFixed(1)} cm` : `${length.toFixed(2)} m`;
}
