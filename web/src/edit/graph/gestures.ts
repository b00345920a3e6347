/** The pointer on keys and curves: select, box, move, stretch, turn handles, scrub, pan and zoom. */
import { drag } from "../../controls/drag";
import { snapped } from "../../shell/ruler";
import type { Transport } from "../../shell/transport";
import type { CurveChannel } from "./curves";
import { withHandle, type HandlePlace } from "./handles";
import { boxOf, type Box, type Edge } from "./hits";
import { keyFactors } from "./lanes";
import type { Model } from "./model";
import { roomToMove, roomToStretch, transformed } from "./moving";
import { howOf, isSelected, NOTHING, selected, type KeyPlace } from "./selection";
import type { Sender } from "./sending";
import type { Hit, Surface } from "./surface";
import { gestureMessage, type Done } from "./telling";
import { movedView, timeAt, valueAt, xAt, yAt, zoomedView } from "./view";

const THRESHOLD = 3; // px before a press becomes a drag

export interface Doing {
  model: Model;
  sender: Sender;
  transport: Transport;
  time(): number; // on stage, seconds
  /** Adds a key at a time to channels. */
  insert(channels: readonly number[], time: number): void;
  menu(x: number, y: number): void;
}

const CURSORS: Record<Hit["kind"], string> = { ruler: "col-resize", handle: "grab", edge: "ew-resize", keys: "move", curve: "pointer", empty: "default" };
const TITLES: Record<Hit["kind"], string> = {
  ruler: "",
  handle: "Drag to turn the tangent; with Alt this side alone",
  edge: "Drag to stretch the selected keys",
  keys: "",
  curve: "Click to select the curve, double click to insert a key",
  empty: "",
};

/** Runs with the newest argument, at most once a picture. */
function eachPicture<T>(run: (newest: T) => void): (value: T) => void {
  let newest: { value: T } | null = null;
  return (value) => {
    if (!newest) {
      requestAnimationFrame(() => {
        const now = newest;
        newest = null;
        if (now) run(now.value);
      });
    }
    newest = { value };
  };
}

export function addGestures(surface: Surface, doing: Doing): void {
  const { element } = surface;
  const { model, sender, transport } = doing;
  const place = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const frame = () => 1 / (model.state?.rate || 30);

  /** A gesture that shows changed channels while it goes on, and keeps them as one step. */
  function change(down: PointerEvent, cursor: string, make: (event: PointerEvent, dx: number, dy: number) => Made | null, click?: () => void): void {
    const { kept, selection } = model;
    let begun = false;
    let ended = false;
    let made: Made | null = null;
    const apply = (event: PointerEvent): void => {
      const now = make(event, event.clientX - down.clientX, event.clientY - down.clientY);
      if (!now) return;
      made = now;
      model.show(now.shown);
      sender.show(() => gestureMessage(kept, now.shown, selection, now.done));
    };
    const later = eachPicture<PointerEvent>((event) => ended || apply(event));
    let last: PointerEvent | null = null;
    const move = (event: PointerEvent): void => {
      if (!begun && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < THRESHOLD) return;
      if (!begun) element.style.cursor = cursor;
      begun = true;
      last = event;
      later(event);
    };
    drag(element, down, move, (restore) => {
      element.style.cursor = "";
      ended = true;
      if (!begun) return restore ? undefined : click?.();
      if (restore) {
        model.show(null);
        return sender.abandon();
      }
      if (last) apply(last);
      if (made) void finish(doing, made);
    });
  }

  function moveKeys(down: PointerEvent, grabbed: KeyPlace, click: () => void): void {
    const { kept, selection } = model;
    const area = surface.area();
    const { view } = surface;
    const room = roomToMove(selection, kept, frame());
    const from = kept[grabbed.channel].times[grabbed.key];
    const factors = factorsOf(kept, selection.keys());
    change(down, "move", (event, dx, dy) => {
      const along = event.shiftKey && surface.upright ? Math.abs(dx) >= Math.abs(dy) : true;
      const up = surface.upright && !(event.shiftKey && along);
      let seconds = along ? (dx / area.width) * (view.stop - view.start) : 0;
      if (along && !event.ctrlKey) seconds = snappedBy(from, seconds, frame());
      seconds = Math.min(room[1], Math.max(room[0], seconds));
      const value = up ? -(dy / area.height) * (view.high - view.low) : 0;
      return transformedBy(kept, selection, factors, { time: [1, seconds], scale: 1, offset: (channel, column) => value / surface.laneOf(channel, column).scale });
    }, click);
  }

  function stretch(down: PointerEvent, edge: Edge, box: Box): void {
    const { kept, selection } = model;
    const area = surface.area();
    const { view } = surface;
    const factors = factorsOf(kept, selection.keys());
    if (edge === "left" || edge === "right") {
      const pivot = timeAt(view, area, edge === "left" ? box.right : box.left);
      const from = timeAt(view, area, box[edge]);
      const room = roomToStretch(selection, kept, pivot, frame());
      return change(down, "ew-resize", (event, dx) => {
        let to = timeAt(view, area, box[edge] + dx);
        if (!event.ctrlKey) to = snapped(to, 1 / frame(), { start: -1e9, stop: 1e9 });
        const s = Math.min(room[1], Math.max(room[0], (to - pivot) / (from - pivot)));
        if (!(s > 0)) return null;
        return transformedBy(kept, selection, factors, { time: [s, (1 - s) * pivot], scale: 1, offset: () => 0 });
      });
    }
    const pivot = valueAt(view, area, edge === "top" ? box.bottom : box.top);
    const from = valueAt(view, area, box[edge]);
    change(down, "ns-resize", (_, __, dy) => {
      const r = (valueAt(view, area, box[edge] + dy) - pivot) / (from - pivot);
      const offset = (channel: number, column: number): number => {
        const lane = surface.laneOf(channel, column);
        return (1 - r) * (lane.offset + pivot / lane.scale);
      };
      return transformedBy(kept, selection, factors, { time: [1, 0], scale: r, offset });
    });
  }

  function turnHandle(down: PointerEvent, handle: HandlePlace): void {
    const channel = model.kept[handle.channel];
    const factor = keyFactors(channel)[handle.key];
    const lane = surface.laneOf(handle.channel, handle.column);
    const area = surface.area();
    const { view } = surface;
    const at = handle.key * channel.columns.length + handle.column;
    const sign = handle.side === "before" ? -1 : 1;
    const shown = lane.scale * ((channel.values[at] + sign * channel[handle.side][2 * at + 1]) * factor - lane.offset);
    const end = { x: xAt(view, area, channel.times[handle.key] + sign * channel[handle.side][2 * at]), y: yAt(view, area, shown) };
    change(down, "grabbing", (event, dx, dy) => {
      const dt = timeAt(view, area, end.x + dx) - channel.times[handle.key];
      const value = (valueAt(view, area, end.y + dy) / lane.scale + lane.offset) / factor;
      return { shown: new Map([[handle.channel, withHandle(channel, handle, dt, value - channel.values[at], event.altKey)]]), done: null };
    });
  }

  function box(down: PointerEvent, click: () => void): void {
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

  function scrub(down: PointerEvent): void {
    const seek = (event: PointerEvent): void => {
      const time = timeAt(surface.view, surface.area(), place(event).x);
      transport.seek(event.shiftKey ? time : snapped(time, 1 / frame(), { start: 0, stop: model.state?.seconds ?? 0 }));
    };
    const was = doing.time();
    seek(down);
    drag(element, down, seek, (restore) => restore && transport.seek(was));
  }

  function navigate(down: PointerEvent, zooms: boolean): void {
    const before = surface.view;
    const area = surface.area();
    const from = place(down);
    const [time, value] = [timeAt(before, area, from.x), valueAt(before, area, from.y)];
    let scrolled = 0;
    element.style.cursor = zooms ? "zoom-in" : "grabbing";
    const move = (event: PointerEvent): void => {
      const to = place(event);
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      if (zooms) surface.view = zoomedView(before, time, value, Math.exp(-dx * 0.008), surface.upright ? Math.exp(dy * 0.008) : 1);
      else {
        const up = surface.upright ? (dy / area.height) * (before.high - before.low) : 0;
        surface.view = movedView(before, (-dx / area.width) * (before.stop - before.start), up);
        if (!surface.upright) surface.scrollBy(scrolled - dy);
        scrolled = dy;
      }
    };
    drag(element, down, move, (restore) => {
      element.style.cursor = "";
      if (restore) surface.view = before;
    });
  }

  function pressKeys(event: PointerEvent, places: KeyPlace[]): void {
    const how = howOf(event);
    const [first] = places;
    const n = model.channels[first.channel].columns.length;
    const all = places.every(({ channel, column, key }) => isSelected(model.selection, channel, key * n + Math.max(0, column)) || model.selection.get(channel)?.[key * model.channels[channel].columns.length] === 1);
    if (how === "remove" && all) return model.select(selected(model.selection, model.channels, places, "remove"));
    if (!all || how === "remove") model.select(selected(model.selection, model.channels, places, how === "remove" ? "add" : how));
    // A press on one of several selected keys may become a drag of all; only a click selects it alone.
    moveKeys(event, first, () => all && how === "replace" && model.select(selected(NOTHING, model.channels, places, "replace")));
  }

  element.addEventListener("pointerdown", (event) => {
    if (event.button > 2) return;
    const at = place(event);
    const hit = surface.hit(at.x, at.y);
    element.focus({ preventScroll: true });
    if (event.button === 2 && !event.altKey) return;
    event.preventDefault();
    // Alt on a handle turns this side alone; anywhere else it navigates as in Maya.
    const navigates = event.button === 1 || (event.altKey && hit.kind !== "handle");
    if (navigates) return navigate(event, event.button === 2 || (event.button === 1 && (event.ctrlKey || event.metaKey)));
    if (event.button !== 0) return;
    surface.point({});
    if (hit.kind === "ruler") scrub(event);
    else if (hit.kind === "handle") turnHandle(event, hit.place);
    else if (hit.kind === "edge") stretch(event, hit.edge, hit.box);
    else if (hit.kind === "keys") pressKeys(event, hit.places);
    else if (hit.kind === "curve") box(event, () => model.select(selected(model.selection, model.channels, hit.places, howOf(event))));
    else box(event, () => howOf(event) === "replace" && model.selection.size > 0 && model.select(NOTHING));
  });
  const hover = eachPicture<{ x: number; y: number }>(({ x, y }) => {
    const hit = surface.hit(x, y);
    element.style.cursor = hit.kind === "edge" && (hit.edge === "top" || hit.edge === "bottom") ? "ns-resize" : CURSORS[hit.kind];
    element.title = TITLES[hit.kind];
    surface.point({ key: hit.kind === "keys" ? hit.places[0] : null, handle: hit.kind === "handle" ? hit.place : null, edge: hit.kind === "edge" ? hit.edge : null });
  });
  element.addEventListener("pointermove", (event) => {
    if (!event.buttons) hover(place(event));
  });
  element.addEventListener("pointerleave", () => surface.point({}));
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    if (event.altKey) return;
    const at = place(event);
    const hit = surface.hit(at.x, at.y);
    if (hit.kind === "keys" && !hit.places.some(({ channel }) => model.selection.has(channel))) model.select(selected(NOTHING, model.channels, hit.places, "replace"));
    doing.menu(event.clientX, event.clientY);
  });
  element.addEventListener("dblclick", (event) => {
    const at = place(event);
    const hit = surface.hit(at.x, at.y);
    if (hit.kind !== "curve") return;
    const time = timeAt(surface.view, surface.area(), at.x);
    doing.insert([hit.channel], event.ctrlKey ? time : snapped(time, 1 / frame(), { start: 0, stop: model.state?.seconds ?? 0 }));
  });
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { view } = surface;
    const area = surface.area();
    const at = place(event);
    const by = Math.exp(event.deltaY * 0.002);
    const along = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (along) surface.view = movedView(view, ((event.deltaX || event.deltaY) / area.width) * (view.stop - view.start), 0);
    else surface.view = zoomedView(view, timeAt(view, area, at.x), valueAt(view, area, at.y), event.ctrlKey && surface.upright ? 1 : by, event.ctrlKey && surface.upright ? by : 1);
  };
  element.addEventListener("wheel", wheel, { passive: false });
}

/** What a gesture has come to, and how, where one transform says it. */
export interface Made {
  shown: Map<number, CurveChannel>;
  done: Done | null;
}

/** Keeps what a gesture shows as one step; where the server refuses, all is as before. */
export async function finish({ model, sender }: Pick<Doing, "model" | "sender">, { shown, done }: Made): Promise<void> {
  const message = gestureMessage(model.kept, shown, model.selection, done);
  if (message.changes?.length === 0) {
    model.show(null);
    return sender.abandon();
  }
  const before = model.adopt();
  if (!(await sender.keep(message))) model.restore(before);
}

/** The shift, near one that was asked for, that brings a time onto a frame. */
export function snappedBy(from: number, seconds: number, frame: number): number {
  return Math.round((from + seconds) / frame) * frame - from;
}

/** The selected channels, each transformed. */
export function transformedBy(channels: readonly CurveChannel[], selection: Model["selection"], factors: ReadonlyMap<number, Float64Array>, done: Done): Made {
  const shown = new Map<number, CurveChannel>();
  for (const [number, flags] of selection) {
    const channel = channels[number];
    const offsets = channel.columns.map((_, column) => done.offset(number, column));
    shown.set(number, transformed(channel, flags, { time: done.time, scale: done.scale, offsets }, factors.get(number)));
  }
  return { shown, done };
}

export function factorsOf(channels: readonly CurveChannel[], numbers: Iterable<number>): Map<number, Float64Array> {
  return new Map([...numbers].map((number) => [number, keyFactors(channels[number])]));
}

