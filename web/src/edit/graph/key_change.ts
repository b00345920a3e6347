/** A gesture that changes keys: it shows what it comes to, and keeps it as one step or takes it back. */
import { drag } from "../../controls/pointer_drag";
import type { Sender } from "./change_queue";
import type { CurveChannel } from "./curves";
import { type Done, gestureMessage } from "./key_messages";
import { transformed } from "./key_transform";
import { keyFactors } from "./lanes";
import type { Model } from "./model";

export const THRESHOLD = 3; // px before a press becomes a drag

/** What a gesture has come to, and how, where one transform says it. */
export interface Made {
  shown: Map<number, CurveChannel>;
  done: Done | null;
}

type Make = (event: PointerEvent, dx: number, dy: number) => Made | null;

export interface Changing {
  model: Model;
  sender: Sender;
  element: HTMLElement;
  pointer(): { clientX: number; clientY: number }; // where it was last
}

/** Runs with the newest argument, at most once a picture. */
export function eachPicture<T>(run: (newest: T) => void): (value: T) => void {
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

/**
 * A gesture from a press, or without one (`down` is null) after the pointer; `click` hears of a press that did not
 * move.
 */
export function change(on: Changing, down: PointerEvent | null, cursor: string, make: Make, click?: () => void): void {
  const { model, sender, element } = on;
  const { kept, selection } = model;
  const from = down ?? on.pointer();
  let ended = false;
  let made: Made | null = null;
  let last: PointerEvent | null = null;
  const apply = (event: PointerEvent): void => {
    const now = make(event, event.clientX - from.clientX, event.clientY - from.clientY);
    if (!now) return;
    made = now;
    model.show(now.shown);
    sender.show(() => gestureMessage(kept, now.shown, selection, now.done));
  };
  const later = eachPicture<PointerEvent>((event) => ended || apply(event));
  const move = (event: PointerEvent): void => {
    if (!last && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < THRESHOLD) return;
    element.style.cursor = cursor;
    last = event;
    later(event);
  };
  const end = (restore: boolean): void => {
    element.style.cursor = "";
    ended = true;
    if (!last) {
      if (!restore) click?.();
      return;
    }
    if (restore) {
      model.show(null);
      sender.abandon();
      return;
    }
    apply(last);
    if (made) void finish(on, made);
  };
  if (down) drag(element, down, move, end);
  else followed(element, move, end);
}

/** The pointer without a button: a click or Enter ends it, Esc or the right button takes it back. */
function followed(element: HTMLElement, move: (event: PointerEvent) => void, end: (restore: boolean) => void): void {
  const stop = (restore: boolean): void => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerdown", press, true);
    window.removeEventListener("keydown", key, true);
    end(restore);
  };
  const press = (event: PointerEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    stop(event.button === 2);
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    stop(event.key === "Escape");
  };
  element.focus({ preventScroll: true });
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerdown", press, true);
  window.addEventListener("keydown", key, true);
}

/** Keeps what a gesture shows as one step; where the server refuses, all is as before. */
export async function finish(
  { model, sender }: Pick<Changing, "model" | "sender">,
  { shown, done }: Made,
): Promise<void> {
  const message = gestureMessage(model.kept, shown, model.selection, done);
  if (message.changes?.length === 0) {
    model.show(null);
    return sender.abandon();
  }
  const before = model.adopt();
  if (!(await sender.keep(message))) model.restore(before);
}

/** The selected channels, each transformed. */
export function transformedBy(channels: readonly CurveChannel[], selection: Model["selection"], done: Done): Made {
  const shown = new Map<number, CurveChannel>();
  for (const [number, flags] of selection) {
    const channel = channels[number];
    const offsets = channel.columns.map((_, column) => done.offset(number, column));
    shown.set(
      number,
      transformed(channel, flags, { time: done.time, scale: done.scale, offsets }, keyFactors(channel)),
    );
  }
  return { shown, done };
}
