/** Pointer input of the graph and the dope sheet: the hit under it decides what a press, drag, click or wheel does. */
import { drag } from "../../controls/pointer_drag";
import { snapToFrame } from "../../shell/ruler";
import type { Transport } from "../../shell/transport";
import type { ChangeQueue } from "./change_queue";
import { type Box, boxOf } from "./hits";
import { DRAG_THRESHOLD_PX, type KeyDragContext, oncePerFrame } from "./key_change";
import { createKeyDrags } from "./key_drags";
import type { Model } from "./model";
import { changeSelection, EMPTY_SELECTION, isKeySelected, isSelected, type KeyPlace, selectModeOf } from "./selection";
import type { Hit, Surface } from "./surface";
import { timeAt } from "./view";
import { addWheel, navigate, scrub } from "./view_drags";

export interface PointerActions {
  model: Model;
  queue: ChangeQueue;
  transport: Transport;
  time(): number; // on stage, seconds
  /** Inserts a key at a time on channels. */
  insert(channels: readonly number[], time: number): void;
  menu(x: number, y: number): void;
}

/** Drags that begin with a key: the selection follows the pointer, moved, or stretched around the playhead. */
export interface KeyboardDrags {
  move(): void;
  stretch(): void;
}

const CURSORS: Record<Hit["kind"], string> = {
  ruler: "col-resize",
  handle: "grab",
  edge: "ew-resize",
  keys: "move",
  curve: "pointer",
  empty: "default",
};
const TITLES: Record<Hit["kind"], string> = {
  ruler: "",
  handle: "Drag to turn the tangent; with Alt this side alone",
  edge: "Drag to stretch the selected keys",
  keys: "",
  curve: "Click to select the curve, double click to insert a key",
  empty: "",
};

export function addPointer(surface: Surface, actions: PointerActions): KeyboardDrags {
  const { element } = surface;
  const { model, queue, transport } = actions;
  let pointer = { clientX: 0, clientY: 0 };
  const positionOf = (event: { clientX: number; clientY: number }) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const hitAt = (event: MouseEvent): Hit => {
    const { x, y } = positionOf(event);
    return surface.hit(x, y);
  };
  const rate = () => model.state?.rate || 30;
  const seconds = () => model.state?.seconds ?? 0;
  const on: KeyDragContext = { model, queue, element, pointer: () => pointer };
  const keyDrags = createKeyDrags(surface, on);
  const pressKeys = createKeyPress(model, keyDrags.move);

  function press(event: PointerEvent, hit: Hit): void {
    surface.setPointer({});
    const how = selectModeOf(event);
    if (hit.kind === "ruler") scrub(surface, event, positionOf, transport, actions.time(), rate(), seconds());
    else if (hit.kind === "handle") keyDrags.turn(event, hit.place);
    else if (hit.kind === "edge") keyDrags.stretch(event, hit.edge, hit.box);
    else if (hit.kind === "keys") pressKeys(event, hit.places);
    else if (hit.kind === "curve")
      dragBox(surface, model, event, positionOf, () =>
        model.select(changeSelection(model.selection, model.channels, hit.places, how)),
      );
    else
      dragBox(
        surface,
        model,
        event,
        positionOf,
        () => how === "replace" && model.selection.size > 0 && model.select(EMPTY_SELECTION),
      );
  }

  element.addEventListener("pointerdown", (event) => {
    if (event.button > 2) return;
    const hit = hitAt(event);
    element.focus({ preventScroll: true });
    if (event.button === 2 && !event.altKey) return;
    event.preventDefault();
    // Alt on a handle turns only this side; elsewhere it navigates as in Maya.
    const middle = event.button === 1;
    if (middle || (event.altKey && hit.kind !== "handle"))
      navigate(surface, event, positionOf, middle ? event.ctrlKey || event.metaKey : event.button === 2);
    else if (event.button === 0) press(event, hit);
  });
  const hover = oncePerFrame<PointerEvent>((event) => {
    const hit = hitAt(event);
    element.style.cursor =
      hit.kind === "edge" && (hit.edge === "top" || hit.edge === "bottom") ? "ns-resize" : CURSORS[hit.kind];
    element.title = TITLES[hit.kind];
    surface.setPointer({
      key: hit.kind === "keys" ? hit.places[0] : null,
      edge: hit.kind === "edge" ? hit.edge : null,
    });
  });
  element.addEventListener("pointermove", (event) => {
    pointer = event;
    if (!event.buttons && !model.drag) hover(event);
  });
  element.addEventListener("pointerleave", () => surface.setPointer({}));
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    if (event.altKey) return;
    const hit = hitAt(event);
    if (hit.kind === "keys" && !hit.places.some(({ channel }) => model.selection.has(channel)))
      model.select(changeSelection(EMPTY_SELECTION, model.channels, hit.places, "replace"));
    actions.menu(event.clientX, event.clientY);
  });
  element.addEventListener("dblclick", (event) => {
    const hit = hitAt(event);
    if (hit.kind !== "curve") return;
    const time = timeAt(surface.view, surface.area(), positionOf(event).x);
    actions.insert([hit.channel], event.ctrlKey ? time : snapToFrame(time, rate(), { start: 0, stop: seconds() }));
  });
  addWheel(surface, positionOf);

  return {
    move() {
      const grabbed = model.drag ? null : keyDrags.nearest(timeAt(surface.view, surface.area(), positionOf(pointer).x));
      if (grabbed) keyDrags.move(null, grabbed);
    },
    stretch() {
      if (!model.drag && model.selection.size) keyDrags.stretchAround(actions.time());
    },
  };
}

/** A press on keys selects them, and may become a drag of all selected keys. */
function createKeyPress(
  model: Model,
  move: (down: PointerEvent, grabbed: KeyPlace, click: () => void) => void,
): (event: PointerEvent, places: KeyPlace[]) => void {
  const isOne = ({ channel, column, key }: KeyPlace): boolean => {
    const n = model.channels[channel].columns.length;
    return column < 0
      ? isKeySelected(model.selection, channel, key, n)
      : isSelected(model.selection, channel, key * n + column);
  };
  return (event, places) => {
    const how = selectModeOf(event);
    const all = places.every(isOne);
    if (how === "remove" && all)
      return model.select(changeSelection(model.selection, model.channels, places, "remove"));
    if (!all) model.select(changeSelection(model.selection, model.channels, places, how === "remove" ? "add" : how));
    // A press on one of several selected keys may become a drag of all; only a click selects it alone.
    move(
      event,
      places[0],
      () =>
        all && how === "replace" && model.select(changeSelection(EMPTY_SELECTION, model.channels, places, "replace")),
    );
  };
}

/** Drags a selection box; `click` is called for a press without motion. */
function dragBox(
  surface: Surface,
  model: Model,
  down: PointerEvent,
  place: (event: MouseEvent) => { x: number; y: number },
  click: () => void,
): void {
  const { element } = surface;
  const from = place(down);
  const how = selectModeOf(down);
  let now: Box | null = null;
  const move = (event: PointerEvent): void => {
    const to = place(event);
    if (!now && Math.hypot(to.x - from.x, to.y - from.y) < DRAG_THRESHOLD_PX) return;
    now = boxOf(from, to);
    element.style.cursor = "crosshair";
    surface.setPointer({ box: now });
  };
  drag(element, down, move, (restore) => {
    element.style.cursor = "";
    surface.setPointer({});
    if (!now) return restore ? undefined : click();
    if (!restore) model.select(changeSelection(model.selection, model.channels, surface.keysInBox(now), how));
  });
}
