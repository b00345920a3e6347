/** Two stacked canvases: the base changes with the view, the top with the pointer. */
import { h } from "../../dom";

export type Paint = CanvasRenderingContext2D;

export interface Layers {
  element: HTMLElement;
  readonly width: number; // px
  readonly height: number;
  /** Clears a layer and returns its context, in px. */
  begin(layer: "base" | "top"): Paint | null;
  onResize(listener: () => void): void;
}

const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif";

export function createLayers(label: string): Layers {
  const base = h("canvas", { class: "graph-canvas" });
  const top = h("canvas", { class: "graph-canvas" });
  const element = h(
    "div",
    { class: "graph-surface inset", tabindex: 0, role: "application", "aria-label": label },
    base,
    top,
  );
  const listeners: (() => void)[] = [];
  let width = 0;
  let height = 0;
  new ResizeObserver(() => {
    width = element.clientWidth;
    height = element.clientHeight;
    for (const listener of listeners) listener();
  }).observe(element);

  return {
    element,
    get width() {
      return width;
    },
    get height() {
      return height;
    },
    begin(layer) {
      const canvas = layer === "base" ? base : top;
      const scale = devicePixelRatio || 1;
      const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
      const paint = canvas.getContext("2d");
      if (!paint || across < 1 || down < 1) return null;
      if (canvas.width !== across || canvas.height !== down) {
        canvas.width = across;
        canvas.height = down;
      }
      paint.setTransform(scale, 0, 0, scale, 0, 0);
      paint.clearRect(0, 0, width, height);
      paint.font = FONT;
      paint.textBaseline = "middle";
      return paint;
    },
    onResize: (listener) => void listeners.push(listener),
  };
}
