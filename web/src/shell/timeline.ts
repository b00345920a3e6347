/** The timeline: transport buttons, and a ruler with the clip's labels, its moments and the character's takes. */
import type { Context } from "../context";
import { numberField } from "../controls/number";
import { h, icon } from "../dom";
import { createLiveStrip } from "./live_strip";
import { drawTimeline, GUTTER, hitAt, RULER, type Picture } from "./timeline_picture";
import { moved, snapped, timeOf, xOf, zoomed, type Span } from "./ruler";
import { clock } from "./time";
import type { Transport } from "./transport";

const ICONS = {
  first: "M4 3v10M13 3L6 8l7 5z",
  back: "M11 3L5 8l6 5",
  play: "M5 2.5v11l8.5-5.5z",
  pause: "M5 3v10M11 3v10",
  forward: "M5 3l6 5-6 5",
  last: "M12 3v10M3 3l7 5-7 5z",
  loop: "M4 5.5h7a2.5 2.5 0 0 1 0 5H5M6.5 8L4 10.5L6.5 13M4 5.5",
};

export function createTimeline(host: HTMLElement, context: Context, transport: Transport): void {
  const { store, connection, notices } = context;
  const canvas = h("canvas", { class: "timeline-canvas" });
  const head = h("div", { class: "playhead" });
  const track = h(
    "div",
    {
      class: "timeline-track inset",
      role: "slider",
      tabindex: 0,
      "aria-label": "Time",
      "aria-valuemin": 0,
      "aria-valuenow": 0,
    },
    canvas,
    h("div", { class: "playhead-window" }, head),
  );
  const message = h("div", { class: "timeline-message muted" });
  const strip = createLiveStrip(context);
  const button = (label: string, path: string, run: () => void, filled = false) =>
    h(
      "button",
      { class: "quiet square", type: "button", "aria-label": label, title: label, onclick: run },
      icon(path, filled),
    );
  const play = h("button", {
    class: "square play",
    type: "button",
    "aria-label": "Play",
    title: "Play (Space)",
    onclick: () => transport.toggle(),
  });
  const loop = button("Loop", ICONS.loop, () => transport.toggleLoop());
  const rate = numberField({
    label: "Rate",
    value: 1,
    minimum: 0.05,
    maximum: 4,
    step: 0.05,
    unit: "×",
    change: (value) => transport.setRate(value),
  });
  const scrubbing = [
    button("To the beginning (Shift ←)", ICONS.first, () => transport.toEnd(-1), true),
    button("One frame back (←)", ICONS.back, () => transport.step(-1)),
    button("One frame on (→)", ICONS.forward, () => transport.step(1)),
    button("To the end (Shift →)", ICONS.last, () => transport.toEnd(1), true),
    loop,
  ];
  const now = h("output", { class: "clock", "aria-label": "Time" });
  const whole = h(
    "button",
    { class: "quiet small", type: "button", onclick: () => transport.wholeRange() },
    "Whole range",
  );
  const title = h("span", { class: "timeline-title nowrap" });
  host.append(
    h(
      "div",
      { class: "transport", role: "toolbar", "aria-label": "Transport" },
      ...scrubbing.slice(0, 2),
      play,
      ...scrubbing.slice(2),
      rate.element,
      now,
      title,
      h("span", { class: "spring" }),
      whole,
    ),
    h("div", { class: "timeline-body" }, track, strip.element, message),
  );

  let view: Span = { start: 0, stop: 1 };
  let shown = "";
  let picture: Picture | null = null;
  const wholeSpan = (): Span => ({ start: 0, stop: Math.max(0.1, transport.playing()?.seconds ?? 0) });
  const width = () => Math.max(1, track.clientWidth - GUTTER);

  function drawTime(): void {
    const what = transport.playing();
    const time = store.time;
    const frames = what ? ` · frame ${Math.round(time * what.rate)}` : "";
    now.classList.toggle("hidden", !what);
    now.textContent = what ? `${clock(time)} / ${clock(what.seconds)}${frames}` : "";
    track.setAttribute("aria-valuenow", time.toFixed(3));
    track.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds`);
    head.style.transform = `translateX(${xOf(time, view, width()).toFixed(1)}px)`;
  }

  function draw(): void {
    const what = transport.playing();
    const stage = store.document?.stage;
    const driver = stage ? `${stage.character} ${stage.driver} ${stage.drives}` : "";
    if (driver !== shown) {
      shown = driver;
      view = wholeSpan();
    }
    const live = stage?.driver === "model";
    strip.show(live);
    message.textContent = what || live || !store.character() ? "" : "At rest. Choose a clip in the library to play it.";
    for (const each of scrubbing) each.disabled = !what;
    track.classList.toggle("hidden", !what);
    head.classList.toggle("hidden", !what);
    play.replaceChildren(icon(stage?.playing ? ICONS.pause : ICONS.play, !stage?.playing));
    play.setAttribute("aria-label", stage?.playing ? "Pause" : "Play");
    play.title = stage?.playing ? "Pause (Space)" : "Play (Space)";
    loop.setAttribute("aria-pressed", String(stage?.loop ?? false));
    rate.value = stage?.rate ?? 1;
    title.textContent = what?.name ?? (live ? "Live: made as it plays. Record a take to keep it." : "");
    const range = transport.range();
    whole.classList.toggle("unseen", !what || (range.start <= 0 && range.stop >= what.seconds - 1e-6));
    track.setAttribute("aria-valuemax", String(what?.seconds ?? 0));
    if (what) {
      const takes = store.document?.takes.filter((take) => take.character === stage?.character) ?? [];
      picture = { playing: what, range, view, takes, shownTake: store.take()?.id ?? "" };
      drawTimeline(canvas, picture);
    }
    drawTime();
  }

  store.onDocument(draw);
  store.onTime(drawTime);
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(track);

  /** A drag along the ruler that Esc takes back. */
  function drag(
    down: PointerEvent,
    move: (time: number, event: PointerEvent) => void,
    end: (restore: boolean) => void,
  ): void {
    track.setPointerCapture(down.pointerId);
    const left = track.getBoundingClientRect().left + GUTTER;
    const at = (event: PointerEvent) => timeOf(event.clientX - left, view, width());
    const moving = (event: PointerEvent) => move(at(event), event);
    const stop = (restore: boolean) => {
      track.removeEventListener("pointermove", moving);
      track.removeEventListener("pointerup", up);
      track.removeEventListener("pointercancel", cancel);
      window.removeEventListener("keydown", escape, true);
      end(restore);
    };
    const up = () => stop(false);
    const cancel = () => stop(true);
    const escape = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      stop(true);
    };
    track.addEventListener("pointermove", moving);
    track.addEventListener("pointerup", up);
    track.addEventListener("pointercancel", cancel);
    window.addEventListener("keydown", escape, true);
    move(at(down), down);
  }

  function scrub(down: PointerEvent): void {
    const what = transport.playing();
    if (!what) return;
    const before = store.time;
    const wasPlaying = store.document?.stage.playing ?? false;
    if (wasPlaying) transport.toggle();
    track.classList.add("scrubbing");
    drag(
      down,
      (time, event) =>
        transport.seek(event.shiftKey ? time : snapped(time, what.rate, { start: 0, stop: what.seconds })),
      (restore) => {
        track.classList.remove("scrubbing");
        if (restore) transport.seek(before);
        if (wasPlaying) connection.request({ kind: "play", playing: true }).catch(notices.failed);
      },
    );
  }

  function dragRange(down: PointerEvent, edge: "start" | "stop"): void {
    const what = transport.playing();
    if (!what || !picture) return;
    const before = transport.range();
    const frame = 1 / (what.rate || 30);
    let range = before;
    drag(
      down,
      (time) => {
        const to = snapped(time, what.rate, { start: 0, stop: what.seconds });
        range =
          edge === "start"
            ? { start: Math.min(to, before.stop - frame), stop: before.stop }
            : { start: before.start, stop: Math.max(to, before.start + frame) };
        picture = { ...(picture as Picture), range };
        drawTimeline(canvas, picture);
      },
      (restore) => {
        if (restore) draw();
        else transport.setRange(Math.max(0, range.start), range.stop);
      },
    );
  }

  function pan(down: PointerEvent): void {
    const before = view;
    drag(
      down,
      (_, event) => {
        view = moved(before, ((down.clientX - event.clientX) / width()) * (before.stop - before.start), wholeSpan());
        draw();
      },
      (restore) => {
        if (restore) view = before;
        draw();
      },
    );
  }

  track.addEventListener("pointerdown", (event) => {
    if (!picture) return;
    const box = track.getBoundingClientRect();
    const hit = hitAt(event.clientX - box.left, event.clientY - box.top, picture, track.clientWidth);
    if (event.button === 1) pan(event);
    else if (event.button !== 0) return;
    else if (hit.kind === "range") dragRange(event, hit.edge);
    else if (hit.kind === "take")
      connection
        .request({ kind: "show", character: store.document?.stage.character ?? "", take: hit.id })
        .catch(notices.failed);
    else if (hit.kind === "moment") transport.seek(hit.time);
    else scrub(event);
    event.preventDefault();
    track.focus({ preventScroll: true });
  });
  track.addEventListener("pointermove", (event) => {
    if (!picture || event.buttons) return;
    const box = track.getBoundingClientRect();
    const hit = hitAt(event.clientX - box.left, event.clientY - box.top, picture, track.clientWidth);
    track.style.cursor =
      hit.kind === "range" ? "ew-resize" : hit.kind === "take" || hit.kind === "moment" ? "pointer" : "col-resize";
    track.title = hit.title;
  });
  track.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const seconds = view.stop - view.start;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        view = moved(view, ((event.deltaX || event.deltaY) / width()) * seconds, wholeSpan());
      } else {
        const around = timeOf(event.clientX - track.getBoundingClientRect().left - GUTTER, view, width());
        view = zoomed(view, Math.exp(event.deltaY * 0.002), around, wholeSpan());
      }
      draw();
    },
    { passive: false },
  );
  track.addEventListener("dblclick", (event) => {
    if (event.clientY - track.getBoundingClientRect().top > RULER) return;
    view = wholeSpan();
    draw();
  });
}
