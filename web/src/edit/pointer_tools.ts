/**
 * The pointer over the stage: what it would take, clicks that choose, drags that edit, gestures that follow it freely.
 */
import type { Context } from "../context";
import { type Item, showMenu } from "../controls/menu";
import { h } from "../dom";
import type { Picked } from "../stage/api";
import type { EditActions } from "./actions";
import type { CurveLayer, OnCurve } from "./curve_layer";
import type { Gestures, Grip, Operation, PointerAt } from "./drag";
import type { Axis } from "./geometry";
import { type EditView, jointPoint, pointName, skinPoint } from "./view";

const THRESHOLD = 3; // px before a press is a drag
// `pointerrawupdate` comes at once, where the browser has it (only on localhost and over https); `pointermove` waits
// for the next frame of the browser.
const MOVES = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";
const LOOKS = 90; // ms between two looks at the character under a resting hand

const TURN_ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" fill="none" stroke="#16181c" stroke-width="4">' +
  '<path d="M19 9a8 8 0 1 0 1 6M19 3v6h-6"/><path stroke="#fff" stroke-width="2" d="M19 9a8 8 0 1 0 1 6M19 3v6h-6"/>' +
  "</svg>";

export const CURSORS: Record<Operation | "sketch", string> = {
  move: "move",
  turn: `url("data:image/svg+xml,${encodeURIComponent(TURN_ICON)}") 12 12, grabbing`,
  time: "ew-resize",
  sketch: "crosshair",
};

type Under = { on: "curve"; at: OnCurve } | { on: "character"; at: Picked } | null;

export interface Pointing {
  awake: boolean;
  /** The gesture that G, R and S begin: it follows the pointer without a button until a click keeps it. */
  follow(operation: Operation): void;
  /** A drag that begins on a handle of the gizmo. */
  take(event: PointerEvent, grip: Partial<Grip> & { operation: Operation }): void;
  /** What a press would do, in words. */
  hint(): string;
}

export interface Hand {
  gestures: Gestures;
  layer: CurveLayer;
  view: EditView;
  actions: EditActions;
  /** A stroke begins here; true where it is taken. One that goes nowhere is a click. */
  sketch(event: PointerEvent, clicked: (event: PointerEvent) => void): boolean;
  /** Says what lies under the pointer. */
  told(): void;
  /** Whether something is offered that another gesture would take away. */
  offered(): boolean;
}

export function createPointing({ stage, store, notices }: Context, host: HTMLElement, hand: Hand): Pointing {
  const { gestures, layer, view, actions } = hand;
  const canvas = stage.canvas;
  let awake = false;
  let claimed: { x: number; y: number; under: Under } | null = null;
  let over: Under = null;
  let looking = 0;
  let pointer = { x: 0, y: 0 };
  let following: (() => void) | null = null;

  const at = (event: MouseEvent): PointerAt => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top, fine: event.shiftKey, at: event.timeStamp };
  };

  function under(x: number, y: number): Under {
    const curve = view.posing ? null : layer.hit(x, y);
    if (curve) return { on: "curve", at: curve };
    const picked = stage.pick(x, y);
    return picked ? { on: "character", at: picked } : null;
  }

  const pointOf = (picked: Picked) =>
    view.picks === "skin" || !picked.joint ? skinPoint(picked.vertex) : jointPoint(picked.joint);

  /** What a drag that begins here would do. */
  function gripOf(found: Under): Grip | null {
    const operation: Operation = view.tool === "sketch" ? "move" : view.tool;
    if (!found) return null;
    if (found.on === "curve") {
      const entry = layer.shown(found.at.curve);
      if (!entry) return null;
      return { operation, point: entry.point, name: entry.name, time: actions.moment(found.at.time), posing: false };
    }
    const point = pointOf(found.at);
    const posing = view.posing;
    return {
      operation: posing && operation === "time" ? "move" : operation,
      point,
      name: pointName(point),
      time: actions.now(),
      posing,
      keys: view.addsKeys,
    };
  }

  /**
   * Why a grip cannot begin, and what to do: between baked frames there is nothing to bend, what is pinned stays, and
   * between keys there is nothing to pose.
   */
  function refusal({ operation, point, name, posing }: Grip): [string, string] | null {
    if (!actions.ready())
      return ["This clip has a key on every frame.", "Reduce it first, in the panel: then every point can be dragged."];
    if (operation !== "time" && actions.pinned(point))
      return [`${name} is pinned: it keeps its path.`, "P releases the pin of what is in hand."];
    if (!posing || view.addsKeys || actions.atKey()) return null;
    return [
      "There is no key here to pose.",
      "↑ and ↓ go to the next key, I sets one here; or let posing add keys, in the panel.",
    ];
  }

  function canBegin(grip: Grip): boolean {
    const why = refusal(grip);
    if (why) notices.show("info", ...why);
    return !why;
  }

  /**
   * The server makes ready while the hand has not moved yet; not where a click would lose what is offered, or means
   * something else.
   */
  function prepare(grip: Grip, { shiftKey }: PointerEvent): void {
    if (!shiftKey && !refusal(grip) && !store.document?.stage.playing && !hand.offered()) gestures.prepare(grip);
  }

  function click(found: Under, event: PointerEvent): void {
    // with Shift one more path is meant, also where another runs across the character
    const behind = event.shiftKey && found?.on === "curve" ? stage.pick(at(event).x, at(event).y) : null;
    if (behind) return void actions.show(pointOf(behind), behind.joint, "toggle");
    if (found?.on === "curve") {
      actions.activate(found.at.curve);
      void actions.seek(found.at.key ?? actions.moment(found.at.time));
    } else if (found) void actions.show(pointOf(found.at), found.at.joint, event.shiftKey ? "toggle" : "alone");
  }

  /** Watches a press: past the threshold it is a drag of what was taken, else a click. */
  function watch(
    down: PointerEvent,
    grip: Grip | null,
    taken: (grip: Grip) => void,
    clicked: (event: PointerEvent) => void,
  ): void {
    let dragging = false;
    const begin = (): void => {
      if (!grip || !canBegin(grip)) return;
      taken(grip);
      gestures.begin(grip, at(down));
    };
    canvas.setPointerCapture(down.pointerId); // also for handles, which go while they are dragged
    const move = (moved: Event): void => {
      const event = moved as PointerEvent;
      if (event.pointerId !== down.pointerId) return;
      if (!dragging) {
        if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < THRESHOLD) return;
        dragging = true;
        begin();
      }
      gestures.move(at(event));
    };
    const stop = (): void => {
      canvas.removeEventListener(MOVES, move);
      canvas.removeEventListener("pointerup", up);
      canvas.removeEventListener("pointercancel", cancel);
      window.removeEventListener("keydown", key, true);
      document.body.style.cursor = "";
      canvas.style.cursor = "";
    };
    const up = (event: PointerEvent): void => {
      stop();
      if (dragging) return void gestures.end(true);
      gestures.forget();
      clicked(event);
    };
    const cancel = (): void => {
      stop();
      gestures.forget();
      void gestures.end(false);
    };
    const key = (event: KeyboardEvent): void => {
      if (!dragging || !gestureKey(event)) return;
      if (event.key === "Escape") cancel();
    };
    canvas.addEventListener(MOVES, move);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", cancel);
    window.addEventListener("keydown", key, true);
  }

  /** Keys of a gesture that goes on: Esc, and the axes. */
  function gestureKey(event: KeyboardEvent): boolean {
    const key = event.key.toLowerCase();
    if (!["escape", "enter", "x", "y", "z"].includes(key) || event.ctrlKey || event.metaKey) return false;
    event.preventDefault();
    event.stopPropagation();
    if (["x", "y", "z"].includes(key)) gestures.lock(key as Axis);
    return true;
  }

  function cursorOf(found: Under): string {
    if (view.tool === "sketch" && !view.posing) return CURSORS.sketch;
    const grip = gripOf(found);
    return grip ? CURSORS[grip.operation] : "";
  }

  canvas.addEventListener("pointerdown", (event) => {
    if (!awake || event.button !== 0 || event.altKey || event.ctrlKey || event.metaKey || following) return;
    const { x, y } = at(event);
    const found = claimed && claimed.x === x && claimed.y === y ? claimed.under : under(x, y);
    claimed = null;
    if (view.tool === "sketch" && !view.posing && hand.sketch(event, (up) => click(found, up))) return;
    if (!found) return void watchNothing(event);
    const grip = gripOf(found);
    if (grip && found.on === "curve") prepare(grip, event);
    const taken = ({ operation, point, posing }: Grip): void => {
      if (found.on === "curve") actions.activate(found.at.curve);
      else if (!posing) void actions.show(point, found.at.joint, "too");
      canvas.style.cursor = CURSORS[operation];
    };
    watch(event, grip, taken, (up) => click(found, up));
  });

  /** A click on nothing lets go of what is in hand; a drag there turns the camera, which the stage does. */
  function watchNothing(down: PointerEvent): void {
    const up = (event: PointerEvent): void => {
      if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < THRESHOLD && !event.shiftKey)
        actions.activate(null);
    };
    canvas.addEventListener("pointerup", up, { once: true });
  }

  canvas.addEventListener("pointermove", (event) => {
    pointer = at(event);
    if (!awake || event.buttons || gestures.going || following) return;
    look();
  });
  canvas.addEventListener("pointerleave", () => {
    over = null;
    view.hovered = null;
    hand.told();
  });

  /** What lies under a hand that moves about; the character is looked at less often, as that needs a picture. */
  function look(): void {
    const curve = view.posing ? null : layer.hit(pointer.x, pointer.y);
    if (curve) show({ on: "curve", at: curve });
    else if (!looking)
      looking = window.setTimeout(() => {
        looking = 0;
        if (awake && !gestures.going && !store.document?.stage.playing) show(under(pointer.x, pointer.y));
      }, LOOKS);
    if (!curve && over?.on === "curve") show(null);
  }

  function show(found: Under): void {
    over = found;
    view.hovered = found?.on === "curve" ? found.at.curve : null;
    canvas.style.cursor = cursorOf(found);
    hand.told();
  }

  canvas.addEventListener("contextmenu", (event) => {
    if (!awake || gestures.going) return;
    const { x, y } = at(event);
    const found = under(x, y);
    const point = found?.on === "curve" ? layer.shown(found.at.curve)?.point : found && pointOf(found.at);
    if (!point) return;
    const time = found?.on === "curve" ? actions.moment(found.at.time) : actions.now();
    const curve = layer.curveOf(point);
    const items: Item[] = [
      { title: "Pin: keep this path, or release it", about: "P", run: () => actions.togglePin(point) },
      { title: `Hold it here, at ${time.toFixed(2)} s`, about: "K", run: () => actions.hold(point, time) },
      { title: "Stand still between these keys", about: "C", run: () => actions.contact(point) },
      { title: "Release all of it", about: "Alt P", run: () => actions.releasePoint(point) },
      ...(curve ? [{ title: "Hide the curve", about: "H", run: () => actions.hide(curve.curve) }] : []),
    ];
    showMenu({ x: event.clientX, y: event.clientY }, items, pointName(point));
  });

  function follow(operation: Operation): void {
    following?.();
    if (gestures.going) return;
    const point = actions.point();
    const entry = view.active === null ? undefined : layer.shown(view.active);
    if (!point || !entry) {
      notices.show("info", "Nothing is in hand.", "Click a point of the character first; its curve is shown then.");
      return;
    }
    const shield = h("div", { class: "gesture-shield", style: `cursor: ${CURSORS[operation]}` });
    const grip: Grip = {
      operation,
      point,
      name: entry.name,
      time: actions.now(),
      posing: view.posing && operation !== "time",
      keys: view.addsKeys,
    };
    if (!canBegin(grip)) return;
    const stop = (commit: boolean): void => {
      window.removeEventListener(MOVES, move);
      window.removeEventListener("keydown", key, true);
      shield.remove();
      following = null;
      void gestures.end(commit);
    };
    const move = (event: Event): void => gestures.move(at(event as PointerEvent));
    const key = (event: KeyboardEvent): void => {
      if (!gestureKey(event)) return;
      if (event.key === "Escape" || event.key === "Enter") stop(event.key === "Enter");
    };
    shield.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      stop(event.button === 0);
    });
    shield.addEventListener("contextmenu", (event) => event.preventDefault());
    window.addEventListener(MOVES, move);
    window.addEventListener("keydown", key, true);
    following = () => stop(false);
    host.append(shield);
    gestures.begin(grip, { ...pointer, fine: false, at: performance.now() });
  }

  return {
    get awake() {
      return awake;
    },
    set awake(next) {
      awake = next;
      stage.claims = next
        ? (x, y) => {
            claimed = { x, y, under: under(x, y) };
            return claimed.under !== null || (view.tool === "sketch" && !view.posing && view.active !== null);
          }
        : null;
      if (!next) {
        following?.();
        canvas.style.cursor = "";
        over = null;
      }
    },
    follow,
    take(event, handle) {
      const entry = view.active === null ? undefined : layer.shown(view.active);
      if (!entry || event.button !== 0) return;
      event.preventDefault();
      event.stopPropagation();
      document.body.style.cursor = CURSORS[handle.operation];
      const grip: Grip = {
        point: entry.point,
        name: entry.name,
        time: actions.now(),
        posing: view.posing && handle.operation !== "time",
        keys: view.addsKeys,
        ...handle,
      };
      prepare(grip, event);
      watch(
        event,
        grip,
        () => undefined,
        () => undefined,
      );
    },
    hint() {
      const grip = gripOf(over);
      if (!over || !grip || (view.tool === "sketch" && !view.posing)) return "";
      const verb = { move: "move", turn: "turn", time: "retime" }[grip.operation];
      const where =
        over.on === "curve"
          ? ` at ${over.at.time.toFixed(2)} s${over.at.key !== null ? ", next to a key: B poses that" : ""}`
          : "";
      return over.on === "curve" || view.posing
        ? `Drag to ${verb} ${grip.name}${where}`
        : `Click to see the path of ${grip.name}, drag to ${verb} it`;
    },
  };
}
