/** The timeline of a live performance: labels and actions of the last half minute, newest at the right. */
import type { Context } from "../context";
import { h } from "../dom";
import { labelColour } from "../labels";
import { drawBar, GUTTER_PX, ROW_PX, RULER_PX } from "./timeline_picture";

const WINDOW_SECONDS = 30;
const DRAW_INTERVAL_MS = 250;

export interface StripSpan {
  start: number; // seconds
  stop: number;
  text: string;
}

/** Appends a report to the spans: a repeated text extends the last span, and spans outside the window are dropped. */
export function appendReport(
  spans: readonly StripSpan[],
  time: number,
  text: string,
  window = WINDOW_SECONDS,
): StripSpan[] {
  const last = spans.at(-1);
  if (last && time < last.stop) return [{ start: time, stop: time, text }]; // another performance
  const kept = spans.filter((span) => span.stop > time - window);
  if (last && last.text === text) return [...kept.slice(0, -1), { ...last, stop: time }];
  return [...kept, { start: last ? last.stop : time, stop: time, text }];
}

export interface LiveStrip {
  element: HTMLElement;
  show(live: boolean): void;
}

export function createLiveStrip({ connection }: Pick<Context, "connection">): LiveStrip {
  const canvas = h("canvas", {
    class: "timeline-canvas",
    role: "img",
    "aria-label": "What the performance did in the last half minute",
  });
  const element = h("div", { class: "timeline-track live-strip hidden" }, canvas);
  let labels: StripSpan[] = [];
  let actions: StripSpan[] = [];
  let now = 0;
  let drawn = 0;
  let shown = false;

  function draw(): void {
    const { clientWidth: width, clientHeight: height } = canvas;
    const paint = canvas.getContext("2d");
    if (!paint || width <= GUTTER_PX) return;
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    paint.scale(scale, scale);
    paint.font = `11px ${getComputedStyle(canvas).fontFamily}`;
    paint.textBaseline = "middle";
    const at = (time: number) => width - ((now - time) / WINDOW_SECONDS) * (width - GUTTER_PX);
    paint.fillStyle = "#8b919b";
    paint.fillText("Labels", 12, RULER_PX + ROW_PX / 2);
    paint.fillText("Doing", 12, RULER_PX + ROW_PX * 1.5);
    for (let ago = 0; ago < WINDOW_SECONDS; ago += 5) {
      const x = Math.round(at(now - ago)) - 0.5;
      paint.fillStyle = "#3a3f48";
      paint.fillRect(x, 14, 1, height);
      paint.fillStyle = "#8b919b";
      paint.textAlign = "right";
      paint.fillText(ago ? `${ago} s ago` : "now", x - 4, 8);
      paint.textAlign = "left";
    }
    paint.save();
    paint.beginPath();
    paint.rect(GUTTER_PX, 0, width, height);
    paint.clip();
    for (const span of labels)
      drawBar(paint, at(span.start), RULER_PX, at(span.stop) - at(span.start), labelColour(span.text), span.text, true);
    for (const span of actions)
      drawBar(paint, at(span.start), RULER_PX + ROW_PX, at(span.stop) - at(span.start), "#8b919b", span.text, false);
    paint.restore();
  }

  connection.on("performing", (event) => {
    now = event.time;
    labels = appendReport(labels, event.time, event.label);
    actions = appendReport(actions, event.time, event.doing);
    if (!shown || performance.now() - drawn < DRAW_INTERVAL_MS) return;
    drawn = performance.now();
    draw();
  });
  new ResizeObserver(() => shown && requestAnimationFrame(draw)).observe(element);

  return {
    element,
    show(live) {
      shown = live;
      element.classList.toggle("hidden", !live);
      if (live) draw();
    },
  };
}
