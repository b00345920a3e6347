/** Pointer input over the stage: hover, clicks that select, drags that edit, and drags without a button. */
import type { Context } from "../context";
import { type Item, showMenu } from "../controls/menu";
import { h } from "../dom";
import type { Picked } from "../stage/api";
import type { EditActions } from "./actions";
import type { CurveHit, CurveLayer } from "./curve_layer";
import type { DragController, Grip, Operation, PointerAt } from "./drag";
import type { Axis } from "./geometry";
import { type EditView, jointPoint, pointName, skinPoint } from "./view";

const DRAG_THRESHOLD_PX = 3; // before a press counts as a drag
// `pointerrawupdate` is sent at once, if the browser has it (only on localhost and over https); `pointermove` waits for
// the next animation frame.
const MOVE_EVENT = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";
const PICK_INTERVAL_MS = 90; // between two picks of the character

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

type Hit = { on: "curve"; at: CurveHit } | { on: "character"; at: Picked } | null;

export interface PointerTools {
  awake: boolean;
  /** Begins a drag by key (G, R, S): it follows the pointer without a button until a click commits it. */
  followPointer(operation: Operation): void;
  /** Begins a drag on a handle of the gizmo. */
  dragHandle(event: PointerEvent, grip: Partial<Grip> & { operation: Operation }): void;
  /** What a press would do, as text. */
  hint(): string;
}

export interface PointerToolsParts {
  drags: DragController;
  layer: CurveLayer;
  view: EditView;
  actions: EditActions;
  /** Begins a stroke; returns whether it does. A stroke without motion is a click. */
  sketch(event: PointerEvent, onClick: (event: PointerEvent) => void): boolean;
  /** Called when the hit under the pointer may have changed. */
  onHover(): void;
  /** Whether suggestions are shown, which another drag would remove. */
  hasSuggestions(): boolean;
}

export function createPointerTools(
  { stage, store, notices }: Context,
  host: HTMLElement,
  parts: PointerToolsParts,
): PointerTools {
  const { drags, layer, view, actions } = parts;
  const canvas = stage.canvas;
  let awake = false;
  let claimedHit: { x: number; y: number; under: Hit } | null = null;
  let hoveredHit: Hit = null;
  let pickTimer = 0;
  let pointer = { x: 0, y: 0 };
  let stopFollowing: (() => void) | null = null;

  const pointerAt = (event: MouseEvent): PointerAt => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top, fine: event.shiftKey, at: event.timeStamp };
  };

  function hitAt(x: number, y: number): Hit {
    const curve = view.posing ? null : layer.hit(x, y);
    if (curve) return { on: "curve", at: curve };
    const picked = stage.pick(x, y);
    return picked ? { on: "character", at: picked } : null;
  }

  const pointOf = (picked: Picked) =>
    view.picks === "skin" || !picked.joint ? skinPoint(picked.vertex) : jointPoint(picked.joint);

  /** The drag that a press on a hit would begin. */
  function gripOf(hit: Hit): Grip | null {
    const operation: Operation = view.tool === "sketch" ? "move" : view.tool;
    if (!hit) return null;
    if (hit.on === "curve") {
      const entry = layer.curveEntry(hit.at.curve);
      if (!entry) return null;
      return { operation, point: entry.point, name: entry.name, time: actions.moment(hit.at.time), posing: false };
    }
    const point = pointOf(hit.at);
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

  /** Why a drag cannot begin, and what to do: the point is pinned, or there is no key to pose. */
  function refusal({ operation, point, name, posing }: Grip): [string, string] | null {
    if (posing && actions.isBaked())
      return ["A pose would last one frame here.", "Every frame is a key: move the point instead, or reduce the clip."];
    if (operation !== "time" && actions.isPinned(point))
      return [`${name} is pinned: it keeps its path.`, "Press P to release the pin of the active point."];
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
   * Asks the server to prepare the drag before the pointer has moved; not if a click would dismiss suggestions or has
   * another meaning.
   */
  function prepare(grip: Grip, { shiftKey }: PointerEvent): void {
    if (!shiftKey && !refusal(grip) && !store.document?.stage.playing && !parts.hasSuggestions()) drags.prepare(grip);
  }

  function handleClick(hit: Hit, event: PointerEvent): void {
    // Shift adds a curve, also if another one runs across the character.
    const behind = event.shiftKey && hit?.on === "curve" ? stage.pick(pointerAt(event).x, pointerAt(event).y) : null;
    if (behind) return void actions.show(pointOf(behind), behind.joint, "toggle");
    if (hit?.on === "curve") {
      actions.activate(hit.at.curve);
      void actions.seek(hit.at.key ?? actions.moment(hit.at.time));
    } else if (hit) void actions.show(pointOf(hit.at), hit.at.joint, event.shiftKey ? "toggle" : "alone");
  }

  /** Watches a press: beyond the threshold it is a drag, else a click. */
  function watchPress(
    down: PointerEvent,
    grip: Grip | null,
    onDrag: (grip: Grip) => void,
    clicked: (event: PointerEvent) => void,
  ): void {
    let dragging = false;
    const begin = (): void => {
      if (!grip || !canBegin(grip)) return;
      onDrag(grip);
      drags.begin(grip, pointerAt(down));
    };
    canvas.setPointerCapture(down.pointerId); // also for handles, which are hidden during the drag
    const move = (moved: Event): void => {
      const event = moved as PointerEvent;
      if (event.pointerId !== down.pointerId) return;
      if (!dragging) {
        if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < DRAG_THRESHOLD_PX) return;
        dragging = true;
        begin();
      }
      drags.move(pointerAt(event));
    };
    const stop = (): void => {
      canvas.removeEventListener(MOVE_EVENT, move);
      canvas.removeEventListener("pointerup", up);
      canvas.removeEventListener("pointercancel", cancel);
      window.removeEventListener("keydown", key, true);
      document.body.style.cursor = "";
      canvas.style.cursor = "";
    };
    const up = (event: PointerEvent): void => {
      stop();
      if (dragging) return void drags.end(true);
      drags.discardPrepared();
      clicked(event);
    };
    const cancel = (): void => {
      stop();
      drags.discardPrepared();
      void drags.end(false);
    };
    const key = (event: KeyboardEvent): void => {
      if (!dragging || !handleDragKey(event)) return;
      if (event.key === "Escape") cancel();
    };
    canvas.addEventListener(MOVE_EVENT, move);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", cancel);
    window.addEventListener("keydown", key, true);
  }

  /** Handles the keys of a drag: Esc and the axes. */
  function handleDragKey(event: KeyboardEvent): boolean {
    const key = event.key.toLowerCase();
    if (!["escape", "enter", "x", "y", "z"].includes(key) || event.ctrlKey || event.metaKey) return false;
    event.preventDefault();
    event.stopPropagation();
    if (["x", "y", "z"].includes(key)) drags.lock(key as Axis);
    return true;
  }

  function cursorOf(hit: Hit): string {
    if (view.tool === "sketch" && !view.posing) return CURSORS.sketch;
    const grip = gripOf(hit);
    return grip ? CURSORS[grip.operation] : "";
  }

  canvas.addEventListener("pointerdown", (event) => {
    if (!awake || event.button !== 0 || event.altKey || event.ctrlKey || event.metaKey || stopFollowing) return;
    const { x, y } = pointerAt(event);
    const hit = claimedHit && claimedHit.x === x && claimedHit.y === y ? claimedHit.under : hitAt(x, y);
    claimedHit = null;
    if (view.tool === "sketch" && !view.posing && parts.sketch(event, (up) => handleClick(hit, up))) return;
    if (!hit) return void watchEmptyPress(event);
    const grip = gripOf(hit);
    if (grip && hit.on === "curve") prepare(grip, event);
    const onDrag = ({ operation, point, posing }: Grip): void => {
      if (hit.on === "curve") actions.activate(hit.at.curve);
      else if (!posing) void actions.show(point, hit.at.joint, "too");
      canvas.style.cursor = CURSORS[operation];
    };
    watchPress(event, grip, onDrag, (up) => handleClick(hit, up));
  });

  /** A click on the background deactivates the curve; a drag there turns the camera, which the stage handles. */
  function watchEmptyPress(down: PointerEvent): void {
    const up = (event: PointerEvent): void => {
      if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < DRAG_THRESHOLD_PX && !event.shiftKey)
        actions.activate(null);
    };
    canvas.addEventListener("pointerup", up, { once: true });
  }

  canvas.addEventListener("pointermove", (event) => {
    pointer = pointerAt(event);
    if (!awake || event.buttons || drags.active || stopFollowing) return;
    updateHover();
  });
  canvas.addEventListener("pointerleave", () => {
    hoveredHit = null;
    view.hovered = null;
    parts.onHover();
  });

  /** Updates the hover. The character is picked less often, as that needs a render. */
  function updateHover(): void {
    const curve = view.posing ? null : layer.hit(pointer.x, pointer.y);
    if (curve) setHover({ on: "curve", at: curve });
    else if (!pickTimer)
      pickTimer = window.setTimeout(() => {
        pickTimer = 0;
        if (awake && !drags.active && !store.document?.stage.playing) setHover(hitAt(pointer.x, pointer.y));
      }, PICK_INTERVAL_MS);
    if (!curve && hoveredHit?.on === "curve") setHover(null);
  }

  function setHover(hit: Hit): void {
    hoveredHit = hit;
    view.hovered = hit?.on === "curve" ? hit.at.curve : null;
    canvas.style.cursor = cursorOf(hit);
    parts.onHover();
  }

  // While a drag goes on the wheel changes its window instead of the camera.
  window.addEventListener(
    "wheel",
    (event) => {
      if (!awake || !drags.active) return;
      event.preventDefault();
      event.stopPropagation();
      drags.turnWheel(event.deltaMode ? 16 * event.deltaY : event.deltaY);
    },
    { capture: true, passive: false },
  );

  canvas.addEventListener("contextmenu", (event) => {
    if (!awake || drags.active) return;
    const { x, y } = pointerAt(event);
    const hit = hitAt(x, y);
    const point = hit?.on === "curve" ? layer.curveEntry(hit.at.curve)?.point : hit && pointOf(hit.at);
    if (!point) return;
    const time = hit?.on === "curve" ? actions.moment(hit.at.time) : actions.now();
    const curve = layer.curveOf(point);
    const items: Item[] = [
      { title: "Pin: keep this path, or release it", about: "P", run: () => actions.togglePin(point) },
      { title: `Hold it here, at ${time.toFixed(2)} s`, about: "K", run: () => actions.hold(point, time) },
      { title: "Stand still between these keys", about: "C", run: () => actions.contact(point) },
      { title: "Release all constraints", about: "Alt P", run: () => actions.releasePoint(point) },
      ...(curve ? [{ title: "Hide the curve", about: "H", run: () => actions.hide(curve.curve) }] : []),
    ];
    showMenu({ x: event.clientX, y: event.clientY }, items, pointName(point));
  });

  function follow(operation: Operation): void {
    stopFollowing?.();
    if (drags.active) return;
    const point = actions.point();
    const entry = view.active === null ? undefined : layer.curveEntry(view.active);
    if (!point || !entry) {
      notices.show("info", "No point is active.", "Click a point of the character first; its curve is shown then.");
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
      window.removeEventListener(MOVE_EVENT, move);
      window.removeEventListener("keydown", key, true);
      shield.remove();
      stopFollowing = null;
      void drags.end(commit);
    };
    const move = (event: Event): void => drags.move(pointerAt(event as PointerEvent));
    const key = (event: KeyboardEvent): void => {
      if (!handleDragKey(event)) return;
      if (event.key === "Escape" || event.key === "Enter") stop(event.key === "Enter");
    };
    shield.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      stop(event.button === 0);
    });
    shield.addEventListener("contextmenu", (event) => event.preventDefault());
    window.addEventListener(MOVE_EVENT, move);
    window.addEventListener("keydown", key, true);
    stopFollowing = () => stop(false);
    host.append(shield);
    drags.begin(grip, { ...pointer, fine: false, at: performance.now() });
  }

  return {
    get awake() {
      return awake;
    },
    set awake(next) {
      awake = next;
      stage.claimsDrag = next
        ? (x, y) => {
            claimedHit = { x, y, under: hitAt(x, y) };
            return claimedHit.under !== null || (view.tool === "sketch" && !view.posing && view.active !== null);
          }
        : null;
      if (!next) {
        stopFollowing?.();
        canvas.style.cursor = "";
        hoveredHit = null;
      }
    },
    followPointer: follow,
    dragHandle(event, handle) {
      const entry = view.active === null ? undefined : layer.curveEntry(view.active);
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
      watchPress(
        event,
        grip,
        () => undefined,
        () => undefined,
      );
    },
    hint() {
      const grip = gripOf(hoveredHit);
      if (!hoveredHit || !grip || (view.tool === "sketch" && !view.posing)) return "";
      const verb = { move: "move", turn: "turn", time: "retime" }[grip.operation];
      const where =
        hoveredHit.on === "curve"
          ? ` at ${hoveredHit.at.time.toFixed(2)} s${hoveredHit.at.key !== null ? ", next to a key: B poses that" : ""}`
          : "";
      return hoveredHit.on === "curve" || view.posing
        ? `Drag to ${verb} ${grip.name}${where}`
        : `Click to see the path of ${grip.name}, drag to ${verb} it`;
    },
  };
}
