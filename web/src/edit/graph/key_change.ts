/** A drag that changes keys: it shows a preview, and commits it as one step or restores the keys. */
import { drag } from "../../controls/pointer_drag";
import type { ChangeQueue } from "./change_queue";
import type { CurveChannel } from "./curves";
import { dragMessage, type SelectionTransform } from "./key_messages";
import { transformKeys } from "./key_transform";
import { keyFactors } from "./lanes";
import type { Model } from "./model";

export const DRAG_THRESHOLD_PX = 3; // before a press counts as a drag

/** The result of a drag: the changed channels, and the transform if a single one describes it. */
export interface DragResult {
  shown: Map<number, CurveChannel>;
  transform: SelectionTransform | null;
}

type ComputeResult = (event: PointerEvent, dx: number, dy: number) => DragResult | null;

export interface KeyDragContext {
  model: Model;
  queue: ChangeQueue;
  element: HTMLElement;
  pointer(): { clientX: number; clientY: number }; // its last position
}

/** Runs with the newest argument, at most once per animation frame. */
export function oncePerFrame<T>(run: (newest: T) => void): (value: T) => void {
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
 * Runs a drag from a press, or without one (`down` is null) following the pointer; `click` is called for a press
 * without motion.
 */
export function runKeyDrag(
  on: KeyDragContext,
  down: PointerEvent | null,
  cursor: string,
  make: ComputeResult,
  click?: () => void,
): void {
  const { model, queue, element } = on;
  const { kept, selection } = model;
  const from = down ?? on.pointer();
  let ended = false;
  let result: DragResult | null = null;
  let last: PointerEvent | null = null;
  const apply = (event: PointerEvent): void => {
    const now = make(event, event.clientX - from.clientX, event.clientY - from.clientY);
    if (!now) return;
    result = now;
    model.showDrag(now.shown);
    queue.preview(() => dragMessage(kept, now.shown, selection, now.transform));
  };
  const scheduleApply = oncePerFrame<PointerEvent>((event) => ended || apply(event));
  const move = (event: PointerEvent): void => {
    if (!last && Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < DRAG_THRESHOLD_PX) return;
    element.style.cursor = cursor;
    last = event;
    scheduleApply(event);
  };
  const end = (restore: boolean): void => {
    element.style.cursor = "";
    ended = true;
    if (!last) {
      if (!restore) click?.();
      return;
    }
    if (restore) {
      model.showDrag(null);
      queue.abandon();
      return;
    }
    apply(last);
    if (result) void commitDrag(on, result);
  };
  if (down) drag(element, down, move, end);
  else followPointer(element, move, end);
}

/** Follows the pointer without a button: a click or Enter ends it, Esc or the right button restores. */
function followPointer(
  element: HTMLElement,
  move: (event: PointerEvent) => void,
  end: (restore: boolean) => void,
): void {
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

/** Commits the result of a drag as one step; restores the keys if the server refuses. */
export async function commitDrag(
  { model, queue }: Pick<KeyDragContext, "model" | "queue">,
  { shown, transform: done }: DragResult,
): Promise<void> {
  const message = dragMessage(model.kept, shown, model.selection, done);
  if (message.changes?.length === 0) {
    model.showDrag(null);
    return queue.abandon();
  }
  const before = model.adoptDrag();
  if (!(await queue.commit(message))) model.restore(before);
}

/** Transforms the selected keys of all channels. */
export function transformSelection(
  channels: readonly CurveChannel[],
  selection: Model["selection"],
  done: SelectionTransform,
): DragResult {
  const shown = new Map<number, CurveChannel>();
  for (const [number, flags] of selection) {
    const channel = channels[number];
    const offsets = channel.columns.map((_, column) => done.offset(number, column));
    shown.set(
      number,
      transformKeys(channel, flags, { time: done.time, scale: done.scale, offsets }, keyFactors(channel)),
    );
  }
  return { shown, transform: done };
}
