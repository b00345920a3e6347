/** The timeline under the pointer: scrub, drag the range, choose a take or a moment, zoom and pan. */
import type { Context } from "../context";
import { drag } from "../controls/pointer_drag";
import { moved, snapped, timeOf, zoomed } from "./ruler";
import type { Track } from "./timeline";
import { GUTTER, type Hit, hitAt, RULER } from "./timeline_picture";
import type { Transport } from "./transport";

const CURSORS: Record<Hit["kind"], string> = {
  time: "col-resize",
  range: "ew-resize",
  moment: "pointer",
  take: "pointer",
};

export function addGestures(track: Track, { store, connection, notices }: Context, transport: Transport): void {
  const { element } = track;
  const left = () => element.getBoundingClientRect().left + GUTTER;
  const timeAt = (event: MouseEvent) => timeOf(event.clientX - left(), track.view, track.width());
  const tell = (message: Parameters<typeof connection.request>[0]) =>
    void connection.request(message).catch(notices.failed);

  function hit(event: MouseEvent): Hit | null {
    const picture = track.picture();
    const box = element.getBoundingClientRect();
    return picture && hitAt(event.clientX - box.left, event.clientY - box.top, picture, element.clientWidth);
  }

  function scrub(down: PointerEvent): void {
    const what = transport.playing();
    if (!what) return;
    const before = store.time;
    const wasPlaying = store.document?.stage.playing ?? false;
    if (wasPlaying) transport.toggle();
    const seek = (event: PointerEvent) => {
      const time = timeAt(event);
      transport.seek(event.shiftKey ? time : snapped(time, what.rate, { start: 0, stop: what.seconds }));
    };
    seek(down);
    drag(element, down, seek, (restore) => {
      if (restore) transport.seek(before);
      if (wasPlaying) tell({ kind: "play", playing: true });
    });
  }

  function dragRange(down: PointerEvent, edge: "start" | "stop"): void {
    const what = transport.playing();
    if (!what) return;
    const before = transport.range();
    const frame = 1 / (what.rate || 30); // a range has at least one frame
    let range = before;
    const move = (event: PointerEvent) => {
      const to = snapped(timeAt(event), what.rate, { start: 0, stop: what.seconds });
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
    const seconds = (before.stop - before.start) / track.width(); // a px
    const move = (event: PointerEvent) => {
      track.view = moved(before, (down.clientX - event.clientX) * seconds, track.whole());
    };
    drag(element, down, move, (restore) => {
      if (restore) track.view = before;
    });
  }

  element.addEventListener("pointerdown", (event) => {
    const found = hit(event);
    if (!found || event.button > 1) return;
    if (event.button === 1) pan(event);
    else if (found.kind === "range") dragRange(event, found.edge);
    else if (found.kind === "moment") transport.seek(found.time);
    else if (found.kind === "take") {
      tell({ kind: "show", character: store.document?.stage.character ?? "", take: found.id });
    } else scrub(event);
    event.preventDefault();
    element.classList.add("pointed"); // whoever points sees where; the ring is for keys
    element.focus({ preventScroll: true });
  });
  for (const kind of ["keydown", "blur"]) element.addEventListener(kind, () => element.classList.remove("pointed"));
  element.addEventListener("pointermove", (event) => {
    const found = event.buttons ? null : hit(event);
    if (!found) return;
    element.style.cursor = CURSORS[found.kind];
    element.title = found.title;
  });
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const seconds = (track.view.stop - track.view.start) / track.width();
    const along = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    track.view = along
      ? moved(track.view, (event.deltaX || event.deltaY) * seconds, track.whole())
      : zoomed(track.view, Math.exp(event.deltaY * 0.002), timeAt(event), track.whole());
  };
  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("dblclick", (event) => {
    if (event.clientY - element.getBoundingClientRect().top < RULER) track.view = track.whole();
  });
}
