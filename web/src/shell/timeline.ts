/**
 * The timeline: the transport, and below it a ruler with labels, moments and takes, or the strip of a live performance.
 */
import type { Context } from "../context";
import { h } from "../dom";
import { createLiveStrip } from "./live_strip";
import { type Span, xOf } from "./ruler";
import { drawTimeline, GUTTER_PX, type Picture } from "./timeline_picture";
import { addPointer } from "./timeline_pointer";
import type { Transport } from "./transport";
import { createTransportBar } from "./transport_bar";

/** The part of the timeline that the pointer works on. */
export interface Track {
  element: HTMLElement;
  view: Span; // the times that are shown; setting it draws
  whole(): Span;
  width(): number; // px of the ruler
  picture(): Picture | null;
  /** Draws another range before the server confirms it; null draws the current one. */
  preview(range: Span | null): void;
}

function createTrack({ store }: Context, transport: Transport): Track {
  const canvas = h("canvas", { class: "timeline-canvas" });
  const head = h("div", { class: "playhead" });
  const slider = { role: "slider", tabindex: 0, "aria-label": "Time", "aria-valuemin": 0, "aria-valuenow": 0 };
  const behind = h("div", { class: "playhead-window" }, head);
  const element = h("div", { class: "timeline-track inset", ...slider }, canvas, behind);
  let view: Span = { start: 0, stop: 1 };
  let shown = "";
  let picture: Picture | null = null;
  const whole = (): Span => ({ start: 0, stop: Math.max(0.1, transport.playable()?.seconds ?? 0) });
  const width = () => Math.max(1, element.clientWidth - GUTTER_PX);

  function drawTime(): void {
    element.setAttribute("aria-valuenow", store.time.toFixed(3));
    element.setAttribute("aria-valuetext", `${store.time.toFixed(2)} seconds`);
    head.style.transform = `translateX(${xOf(store.time, view, width()).toFixed(1)}px)`;
  }

  function draw(range: Span | null = null): void {
    const playing = transport.playable();
    const stage = store.document?.stage;
    const driver = stage ? `${stage.character} ${stage.driver} ${stage.drives}` : "";
    if (driver !== shown) view = whole();
    shown = driver;
    element.classList.toggle("hidden", !playing);
    element.setAttribute("aria-valuemax", String(playing?.seconds ?? 0));
    picture = null;
    if (playing && stage) {
      const takes = store.document?.takes.filter((take) => take.character === stage.character) ?? [];
      picture = { playing, range: range ?? transport.range(), view, takes, shownTake: store.take()?.id ?? "" };
      drawTimeline(canvas, picture);
    }
    drawTime();
  }

  store.onDocument(() => draw());
  store.onTime(drawTime);
  new ResizeObserver(() => requestAnimationFrame(() => draw())).observe(element);
  return {
    element,
    get view() {
      return view;
    },
    set view(next: Span) {
      view = next;
      draw();
    },
    whole,
    width,
    picture: () => picture,
    preview: draw,
  };
}

export function createTimeline(host: HTMLElement, context: Context, transport: Transport): void {
  const { store } = context;
  const track = createTrack(context, transport);
  const strip = createLiveStrip(context);
  const message = h("div", { class: "timeline-message muted" });
  addPointer(track, context, transport);
  host.append(
    createTransportBar(store, transport),
    h("div", { class: "timeline-body" }, track.element, strip.element, message),
  );
  store.onDocument(({ stage }) => {
    const rests = store.character() !== null && stage.driver === "rest";
    strip.show(stage.driver === "model");
    message.textContent = rests ? "At rest. Choose a clip in the library to play it." : "";
  });
}
