/** A drag: from a press to its release. Esc or a lost pointer restores the state before it. */

export function drag(
  element: HTMLElement,
  down: PointerEvent,
  move: (event: PointerEvent) => void,
  end: (restore: boolean) => void,
): void {
  element.setPointerCapture(down.pointerId);
  const stop = (restore: boolean) => {
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", cancel);
    window.removeEventListener("keydown", cancelOnEscape, true);
    end(restore);
  };
  const up = () => stop(false);
  const cancel = () => stop(true);
  const cancelOnEscape = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    stop(true);
  };
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", cancel);
  window.addEventListener("keydown", cancelOnEscape, true);
}
