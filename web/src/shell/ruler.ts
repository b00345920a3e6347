/** The arithmetic of a timeline: positions of times, and ticks. */

export interface Span {
  start: number; // seconds
  stop: number;
}

export interface Tick {
  time: number;
  label: string; // empty for a small tick
}

const LABEL_SPACE_PX = 64; // minimum between labelled ticks
const TICK_SPACE_PX = 6; // minimum between small ticks

export const xOf = (time: number, view: Span, width: number) =>
  ((time - view.start) / (view.stop - view.start)) * width;
export const timeOf = (x: number, view: Span, width: number) => view.start + (x / width) * (view.stop - view.start);

/** The time of the nearest frame, within a span. */
export function snapToFrame(time: number, rate: number, span: Span): number {
  const onFrame = rate > 0 ? Math.round(time * rate) / rate : time;
  return Math.min(span.stop, Math.max(span.start, onFrame));
}

/** The smallest of 1, 2, 5 times a power of ten that is at least a value. */
export function roundStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = value / power;
  return power * (digit <= 1.0000001 ? 1 : digit <= 2.0000001 ? 2 : digit <= 5.0000001 ? 5 : 10);
}

/** The ticks of a view: labelled ones in seconds, and small ones between them, on frames if there is room. */
export function ticks(view: Span, width: number, rate: number): Tick[] {
  const span = view.stop - view.start;
  if (!(span > 0) || width <= 0) return [];
  const step = roundStep((span * LABEL_SPACE_PX) / width);
  const frame = rate > 0 ? 1 / rate : 0;
  const perFrame = frame > 0 && (frame / span) * width >= TICK_SPACE_PX;
  const digit = Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9));
  const small = perFrame ? frame : step / (digit === 2 ? 4 : 5);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const result: Tick[] = [];
  for (let k = Math.ceil(view.start / small - 1e-6); k * small <= view.stop + 1e-9; k++) {
    const time = k * small;
    const isLarge = Math.abs(time / step - Math.round(time / step)) < 1e-6;
    if (!isLarge) result.push({ time, label: "" });
  }
  for (let k = Math.ceil(view.start / step - 1e-6); k * step <= view.stop + 1e-9; k++) {
    result.push({ time: k * step, label: `${(k * step).toFixed(digits)} s` });
  }
  return result;
}

/** Zooms a view by a factor around a time, within `whole`. */
export function zoomSpan(view: Span, factor: number, around: number, whole: Span): Span {
  const most = whole.stop - whole.start;
  const span = Math.min(most, Math.max(Math.min(0.1, most), (view.stop - view.start) * factor));
  const part = (around - view.start) / (view.stop - view.start);
  return panSpan({ start: around - part * span, stop: around - part * span + span }, 0, whole);
}

/** Moves a view by seconds, within `whole`. */
export function panSpan(view: Span, seconds: number, whole: Span): Span {
  const span = view.stop - view.start;
  const start = Math.min(whole.stop - span, Math.max(whole.start, view.start + seconds));
  return { start, stop: start + span };
}
