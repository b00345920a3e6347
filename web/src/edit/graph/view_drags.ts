/** Navigation by pointer: pan and zoom by drags and by the wheel, and scrubbing on the ruler. */
import { drag } from "../../controls/pointer_drag";
import { snapToFrame } from "../../shell/ruler";
import type { Transport } from "../../shell/transport";
import type { Surface } from "./surface";
import { panView, timeAt, valueAt, zoomView } from "./view";

type Place = (event: MouseEvent) => { x: number; y: number };

/** Pans with the pointer, also the rows of the dope sheet; or zooms around the position of the press. */
export function navigate(surface: Surface, down: PointerEvent, place: Place, zooms: boolean): void {
  const { element } = surface;
  const before = surface.view;
  const area = surface.area();
  const from = place(down);
  const [time, value] = [timeAt(before, area, from.x), valueAt(before, area, from.y)];
  let scrolled = 0;
  element.style.cursor = zooms ? "zoom-in" : "grabbing";
  const move = (event: PointerEvent): void => {
    const to = place(event);
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    if (zooms) {
      surface.view = zoomView(before, time, value, Math.exp(-dx * 0.008), surface.upright ? Math.exp(dy * 0.008) : 1);
      return;
    }
    const up = surface.upright ? (dy / area.height) * (before.high - before.low) : 0;
    surface.view = panView(before, (-dx / area.width) * (before.stop - before.start), up);
    surface.scrollBy(scrolled - dy);
    scrolled = dy;
  };
  drag(element, down, move, (restore) => {
    element.style.cursor = "";
    if (!restore) return;
    surface.view = before;
    surface.scrollBy(scrolled);
  });
}

/** The wheel zooms times, with Ctrl values; with Shift or sideways it pans. */
export function addWheel(surface: Surface, place: Place): void {
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { view } = surface;
    const area = surface.area();
    const at = place(event);
    const by = Math.exp(event.deltaY * 0.002);
    const values = event.ctrlKey && surface.upright;
    const along = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (along)
      surface.view = panView(view, ((event.deltaX || event.deltaY) / area.width) * (view.stop - view.start), 0);
    else
      surface.view = zoomView(
        view,
        timeAt(view, area, at.x),
        valueAt(view, area, at.y),
        values ? 1 : by,
        values ? by : 1,
      );
  };
  surface.element.addEventListener("wheel", wheel, { passive: false });
}

/** Scrubs on the ruler, by frames unless Shift is held. */
export function scrub(
  surface: Surface,
  down: PointerEvent,
  place: Place,
  transport: Transport,
  now: number,
  rate: number,
  seconds: number,
): void {
  const seek = (event: PointerEvent): void => {
    const time = timeAt(surface.view, surface.area(), place(event).x);
    transport.seek(event.shiftKey ? time : snapToFrame(time, rate, { start: 0, stop: seconds }));
  };
  seek(down);
  drag(surface.element, down, seek, (restore) => restore && transport.seek(now));
}
