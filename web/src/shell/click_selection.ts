/**
 * A click on the character selects the joint under the pointer. The selection belongs to the document, so all views
 * share it.
 */
import type { Context } from "../context";

const CLICK_RADIUS_PX = 3; // a longer move is a drag

/** The selection after a click: this name alone, or with Shift added or removed. */
export function selectionAfter(before: readonly string[], name: string | null, more: boolean): string[] {
  if (!more) return name === null ? [] : [name];
  if (name === null) return [...before];
  return before.includes(name) ? before.filter((other) => other !== name) : [...before, name];
}

export function createClickSelection({ stage, store, connection, notices }: Context, active: () => boolean): void {
  let down: { x: number; y: number } | null = null;
  stage.canvas.addEventListener("pointerdown", (event) => {
    down = event.button === 0 && !event.altKey && active() ? { x: event.clientX, y: event.clientY } : null;
  });
  stage.canvas.addEventListener("pointerup", (event) => {
    if (!down || Math.hypot(event.clientX - down.x, event.clientY - down.y) > CLICK_RADIUS_PX) return;
    down = null;
    const before = store.document?.selection ?? [];
    const picked = stage.pick(event.offsetX, event.offsetY);
    const names = selectionAfter(before, picked ? picked.joint || picked.part : null, event.shiftKey);
    if (names.join("\n") !== before.join("\n")) connection.request({ kind: "select", names }).catch(notices.showError);
  });
}
