/**
 * Camera controls: the middle button turns, with Shift moves, with Ctrl zooms, the wheel zooms (Blender); with Alt the
 * left, middle and right buttons turn, move and zoom (Maya); a plain drag of the left button or of one finger turns as
 * well, for use without a mouse, and two fingers move and zoom.
 */

export type Motion = "turn" | "move" | "zoom";

export interface CameraTarget {
  turn(dx: number, dy: number): void;
  move(dx: number, dy: number): void;
  zoom(factor: number, x: number, y: number): void; // towards a point in CSS pixels
  /** Whether a plain drag that begins here is handled elsewhere. */
  isClaimed(x: number, y: number): boolean;
}

export const DRAG_THRESHOLD_PX = 3; // before a press counts as a drag
const ZOOM_PER_WHEEL_PX = 0.0012; // share of the distance for each pixel of scrolling
const ZOOM_PER_DRAG_PX = 0.006; // share of the distance for each pixel of a drag

/** The camera motion that a press begins, or null. */
export function motionOf(
  event: Pick<PointerEvent, "button" | "altKey" | "shiftKey" | "ctrlKey" | "metaKey">,
): Motion | null {
  if (event.altKey) return (["turn", "move", "zoom"] as const)[event.button] ?? null;
  if (event.button === 1) return event.shiftKey ? "move" : event.ctrlKey || event.metaKey ? "zoom" : "turn";
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey ? "turn" : null;
}

/**
 * The zoom factor of one wheel event; lines and pages are converted to pixels, and one event changes at most a fifth.
 */
export function wheelFactor(event: Pick<WheelEvent, "deltaY" | "deltaMode" | "ctrlKey">): number {
  // The browser reports pinches as small wheel events with Ctrl.
  const pixels = event.deltaY * [1, 16, 400][event.deltaMode] * (event.ctrlKey ? 6 : 1);
  return Math.exp(Math.min(Math.max(pixels * ZOOM_PER_WHEEL_PX, -0.2), 0.2));
}

/** Adds the listeners to a canvas; returns the function that removes them. */
export function addCameraControls(canvas: HTMLCanvasElement, camera: CameraTarget): () => void {
  const fingers = new Map<number, { x: number; y: number }>();
  let motion: Motion | null = null;
  let dragging = false;
  let start = { x: 0, y: 0 };

  const local = (event: MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent): void => {
    const at = local(event);
    fingers.set(event.pointerId, at);
    if (fingers.size > 1) return;
    motion = motionOf(event);
    if (motion && !event.altKey && event.button === 0 && camera.isClaimed(at.x, at.y)) motion = null;
    if (!motion) return;
    if (event.button === 1) event.preventDefault(); // prevents the browser's autoscroll
    start = at;
    dragging = false;
  };
  const move = (event: PointerEvent): void => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const at = local(event);
    if (fingers.size === 2) {
      pinch(event.pointerId, before, at);
      return;
    }
    if (!motion) return;
    if (!dragging) {
      if (Math.hypot(at.x - start.x, at.y - start.y) < DRAG_THRESHOLD_PX) return;
      dragging = true;
      canvas.setPointerCapture(event.pointerId);
      canvas.style.cursor = motion === "turn" ? "grabbing" : motion === "move" ? "move" : "ns-resize";
    }
    fingers.set(event.pointerId, at);
    const [dx, dy] = [at.x - before.x, at.y - before.y];
    if (motion === "turn") camera.turn(dx, dy);
    else if (motion === "move") camera.move(dx, dy);
    else camera.zoom(Math.exp((dy - dx) * ZOOM_PER_DRAG_PX), start.x, start.y);
  };
  const pinch = (id: number, before: { x: number; y: number }, at: { x: number; y: number }): void => {
    const other = [...fingers].find(([key]) => key !== id)?.[1];
    if (!other) return;
    const spread = (p: { x: number; y: number }): number => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
    camera.move((at.x - before.x) / 2, (at.y - before.y) / 2);
    camera.zoom(spread(before) / spread(at), (at.x + other.x) / 2, (at.y + other.y) / 2);
    fingers.set(id, at);
  };
  const up = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
    if (fingers.size) return;
    if (dragging) canvas.style.cursor = "";
    if (dragging && event.type === "pointerup") swallowClick(canvas);
    motion = null;
    dragging = false;
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const at = local(event);
    camera.zoom(wheelFactor(event), at.x, at.y);
  };
  const menu = (event: MouseEvent): void => event.preventDefault();

  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("contextmenu", menu);
  return () => {
    canvas.removeEventListener("pointerdown", down);
    canvas.removeEventListener("pointermove", move);
    canvas.removeEventListener("pointerup", up);
    canvas.removeEventListener("pointercancel", up);
    canvas.removeEventListener("wheel", wheel);
    canvas.removeEventListener("contextmenu", menu);
  };
}

/** Suppresses the click event that follows a drag. */
function swallowClick(canvas: HTMLCanvasElement): void {
  const stop = (event: Event): void => event.stopImmediatePropagation();
  canvas.addEventListener("click", stop, { capture: true, once: true });
  setTimeout(() => canvas.removeEventListener("click", stop, { capture: true }), 0);
}
