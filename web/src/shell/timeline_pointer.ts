/** Pointer input of the timeline: scrub, drag the range, choose a take or a moment, zoom and pan. */
import type { Context } from "../context";
import { drag } from "../controls/pointer_drag";
import { panSpan, snapToFrame, timeOf, zoomSpan } from "./ruler";
import type { Track } from "./timeline";
import { GUTTER_PX, type Hit, hitAt, RULER_PX } from "./timeline_picture";
import type { Transport } from "./transport";

const CURSORS: Record<Hit["kind"], string> = {
  time: "col-resize",
  range: "ew-resize",
  moment: "pointer",
  take: "pointer",
};

export function addPointer(track: Track, { store, connection, notices }: Context, transport: Transport): void {
  const { element } = track;
  const left = () => element.getBoundingClientRect().left + GUTTER_PX;
  const timeAt = (event: MouseEvent) => timeOf(event.clientX - left(), track.view, track.width());
  const request = (message: Parameters<typeof connection.request>[0]) =>
    void connection.request(message).catch(notices.showError);

  function hit(event: MouseEvent): Hit | null {
    const picture = track.picture();
    const box = element.getBoundingClientRect();
    return picture && hitAt(event.clientX - box.left, event.clientY - box.top, picture, element.clientWidth);
  }

  function scrub(down: PointerEvent): void {
    const what = transport.playable();
    if (!what) return;
    const before = store.time;
    const wasPlaying = store.document?.stage.playing ?? false;
    if (wasPlaying) transport.toggle();
    const seek = (event: PointerEvent) => {
      const time = timeAt(event);
      transport.seek(event.shiftKey ? time : snapToFrame(time, what.rate, { start: 0, stop: what.seconds }));
    };
    seek(down);
    drag(element, down, seek, (restore) => {
      if (restore) transport.seek(before);
      if (wasPlaying) request({ kind: "play", playing: true });
    });
  }

  function dragRange(down: PointerEvent, edge: "start" | "stop"): void {
    const what = transport.playable();
    if (!what) return;
    const before = transport.range();
    const frame = 1 / (what.rate || 30); // a range has at least one frame
    let range = before;
    const move = (event: PointerEvent) => {
      const to = snapToFrame(timeAt(event), what.rate, { start: 0, stop: what.seconds });
      if (edge === "start") range = { start: Math.max(0, Math.min(to, before.stop - frame)), stop: before.stop };
      else range = { start: before.start, stop: Math.max(to, before.start + frame) };
      track.preview(range);
    };
    drag(element, down, move, (restore) => {
      if (restore) track.preview(null);
      else transport.setRange(range.start, range.stop);
    });
  }

  function pan(down: PointerEvent): void {
    const before = track.view;
    const seconds = (before.stop - before.start) / track.width(); // per px
    const move = (event: PointerEvent) => {
      track.view = panSpan(before, (down.clientX - event.clientX) * seconds, track.whole());
    };
    drag(element, down, move, (restore) => {
      if (restore) track.view = before;
    });
  }

  element.addEventListener("pointerdown", (event) => {
    const target = hit(event);
    if (!target || event.button > 1) return;
    if (event.button === 1) pan(event);
    else if (target.kind === "range") dragRange(event, target.edge);
    else if (target.kind === "moment") transport.seek(target.time);
    else if (target.kind === "take") {
      request({ kind: "show", character: store.document?.stage.character ?? "", take: target.id });
    } else scrub(event);
    event.preventDefault();
    element.classList.add("pointed"); // hides the focus ring, which is for keyboard use
    element.focus({ preventScroll: true });
  });
  for (const kind of ["keydown", "blur"]) element.addEventListener(kind, () => element.classList.remove("pointed"));
  element.addEventListener("pointermove", (event) => {
    const target = event.buttons ? null : hit(event);
    if (!target) return;
    element.style.cursor = CURSORS[target.kind];
    element.title = target.title;
  });
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const seconds = (track.view.stop - track.view.start) / track.width();
    const along = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    track.view = along
      ? panSpan(track.view, (event.deltaX || event.deltaY) * seconds, track.whole())
      : zoomSpan(track.view, Math.exp(event.deltaY * 0.002), timeAt(event), track.whole());
  };
  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("dblclick", (event) => {
    if (event.clientY - element.getBoundingClientRect().top < RULER_PX) track.view = track.whole();
  });
}
