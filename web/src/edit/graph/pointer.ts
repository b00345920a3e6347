/** The pointer on keys and curves: what is under it decides what a press, a drag, a click or a wheel does. */
import { drag } from "../../controls/pointer_drag";
import { snapped } from "../../shell/ruler";
import type { Transport } from "../../shell/transport";
import type { Sender } from "./change_queue";
import { type Box, boxOf } from "./hits";
import { type Changing, eachPicture, THRESHOLD } from "./key_change";
import { createKeyGestures } from "./key_drags";
import type { Model } from "./model";
import { howOf, isSelected, type KeyPlace, keySelected, NOTHING, selected } from "./selection";
import type { Hit, Surface } from "./surface";
import { timeAt } from "./view";
import { addWheel, navigate, scrub } from "./view_drags";

export interface Doing {
  model: Model;
  sender: Sender;
  transport: Transport;
  time(): number; // on stage, seconds
  /** Adds a key at a time to channels. */
  insert(channels: readonly number[], time: number): void;
  menu(x: number, y: number): void;
}

/** What keys of the keyboard begin: the selection follows the pointer, moved, or stretched around the playhead. */
export interface Following {
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

export function addGestures(surface: Surface, doing: Doing): Following {
  const { element } = surface;
  const { model, sender, transport } = doing;
  let pointer = { clientX: 0, clientY: 0 };
  const place = (event: { clientX: number; clientY: number }) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const under = (event: MouseEvent): Hit => {
    const { x, y } = place(event);
    return surface.hit(x, y);
  };
  const rate = () => model.state?.rate || 30;
  const seconds = () => model.state?.seconds ?? 0;
  const on: Changing = { model, sender, element, pointer: () => pointer };
  const gestures = createKeyGestures(surface, on);
  const pressKeys = keyPresser(model, gestures.move);

  function press(event: PointerEvent, hit: Hit): void {
    surface.point({});
    const how = howOf(event);
    if (hit.kind === "ruler") scrub(surface, event, place, transport, doing.time(), rate(), seconds());
    else if (hit.kind === "handle") gestures.turn(event, hit.place);
    else if (hit.kind === "edge") gestures.stretch(event, hit.edge, hit.box);
    else if (hit.kind === "keys") pressKeys(event, hit.places);
    else if (hit.kind === "curve")
      box(surface, model, event, place, () => model.select(selected(model.selection, model.channels, hit.places, how)));
    else
      box(surface, model, event, place, () => how === "replace" && model.selection.size > 0 && model.select(NOTHING));
  }

  element.addEventListener("pointerdown", (event) => {
    if (event.button > 2) return;
    const hit = under(event);
    element.focus({ preventScroll: true });
    if (event.button === 2 && !event.altKey) return;
    event.preventDefault();
    // Alt on a handle turns this side alone; anywhere else it navigates as in Maya.
    const middle = event.button === 1;
    if (middle || (event.altKey && hit.kind !== "handle"))
      navigate(surface, event, place, middle ? event.ctrlKey || event.metaKey : event.button === 2);
    else if (event.button === 0) press(event, hit);
  });
  const hover = eachPicture<PointerEvent>((event) => {
    const hit = under(event);
    element.style.cursor =
      hit.kind === "edge" && (hit.edge === "top" || hit.edge === "bottom") ? "ns-resize" : CURSORS[hit.kind];
    element.title = TITLES[hit.kind];
    surface.point({ key: hit.kind === "keys" ? hit.places[0] : null, edge: hit.kind === "edge" ? hit.edge : null });
  });
  element.addEventListener("pointermove", (event) => {
    pointer = event;
    if (!event.buttons && !model.gesture) hover(event);
  });
  element.addEventListener("pointerleave", () => surface.point({}));
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    if (event.altKey) return;
    const hit = under(event);
    if (hit.kind === "keys" && !hit.places.some(({ channel }) => model.selection.has(channel)))
      model.select(selected(NOTHING, model.channels, hit.places, "replace"));
    doing.menu(event.clientX, event.clientY);
  });
  element.addEventListener("dblclick", (event) => {
    const hit = under(event);
    if (hit.kind !== "curve") return;
    const time = timeAt(surface.view, surface.area(), place(event).x);
    doing.insert([hit.channel], event.ctrlKey ? time : snapped(time, rate(), { start: 0, stop: seconds() }));
  });
  addWheel(surface, place);

  return {
    move() {
      const grabbed = model.gesture ? null : gestures.nearest(timeAt(surface.view, surface.area(), place(pointer).x));
      if (grabbed) gestures.move(null, grabbed);
    },
    stretch() {
      if (!model.gesture && model.selection.size) gestures.stretchAround(doing.time());
    },
  };
}

/** A press on keys: it selects them, and may become a drag of all that are selected. */
function keyPresser(
  model: Model,
  move: (down: PointerEvent, grabbed: KeyPlace, click: () => void) => void,
): (event: PointerEvent, places: KeyPlace[]) => void {
  const isOne = ({ channel, column, key }: KeyPlace): boolean => {
    const n = model.channels[channel].columns.length;
    return column < 0
      ? keySelected(model.selection, channel, key, n)
      : isSelected(model.selection, channel, key * n + column);
  };
  return (event, places) => {
    const how = howOf(event);
    const all = places.every(isOne);
    if (how === "remove" && all) return model.select(selected(model.selection, model.channels, places, "remove"));
    if (!all) model.select(selected(model.selection, model.channels, places, how === "remove" ? "add" : how));
    // A press on one of several selected keys may become a drag of all; only a click selects it alone.
    move(
      event,
      places[0],
      () => all && how === "replace" && model.select(selected(NOTHING, model.channels, places, "replace")),
    );
  };
}

/** A box that selects what it holds; `click` hears of a press that did not move. */
function box(
  surface: Surface,
  model: Model,
  down: PointerEvent,
  place: (event: MouseEvent) => { x: number; y: number },
  click: () => void,
): void {
  const { element } = surface;
  const from = place(down);
  const how = howOf(down);
  let now: Box | null = null;
  const move = (event: PointerEvent): void => {
    const to = place(event);
    if (!now && Math.hypot(to.x - from.x, to.y - from.y) < THRESHOLD) return;
    now = boxOf(from, to);
    element.style.cursor = "crosshair";
    surface.point({ box: now });
  };
  drag(element, down, move, (restore) => {
    element.style.cursor = "";
    surface.point({});
    if (!now) return restore ? undefined : click();
    if (!restore) model.select(selected(model.selection, model.channels, surface.inBox(now), how));
  });
}
