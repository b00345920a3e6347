/** Fits the view to keys, and measures how far the drawn curves are from the server's samples. */
import type { Span } from "../../shell/ruler";
import { type CurveChannel, firstKeyAt } from "./curves";
import { shownValue } from "./hits";
import { columnExtent } from "./lanes";
import type { Model } from "./model";
import { keySigns, sampleRow } from "./sampling";
import { fitToRange, type View } from "./view";

/** The joints (targets) of channels, sorted and unique. */
export const targetsOf = (channels: readonly CurveChannel[], chosen: readonly number[]) =>
  [...new Set(chosen.map((number) => channels[number].target))].sort();

/** The view of the selected keys, or of all with fewer than two; null without keys. */
export function frameKeys(
  model: Pick<Model, "kept" | "lanes" | "selection">,
  values: boolean,
  whole: Span,
  view: View,
): View | null {
  const selectedKeys = [...model.selection].flatMap(([number, flags]) => {
    const { times, columns } = model.kept[number];
    return [...times.keys()]
      .filter((key) => flags.subarray(key * columns.length, (key + 1) * columns.length).includes(1))
      .map((key) => times[key]);
  });
  const some = selectedKeys.length > 1;
  let span = whole;
  if (some)
    span = {
      start: selectedKeys.reduce((a, b) => Math.min(a, b)),
      stop: selectedKeys.reduce((a, b) => Math.max(a, b)),
    };
  if (!values) return { ...fitToRange(span, view.low, view.high), low: view.low, high: view.high };
  let low = Infinity;
  let high = -Infinity;
  for (const lane of model.lanes) {
    const channel = model.kept[lane.channel];
    if (some && !model.selection.has(lane.channel)) continue;
    const first = Math.max(0, firstKeyAt(channel.times, span.start) - 1);
    const last = Math.min(channel.times.length - 1, firstKeyAt(channel.times, span.stop));
    const [least, most] = columnExtent(channel, lane.column, first, last).map((value) => shownValue(lane, value));
    low = Math.min(low, least, most);
    high = Math.max(high, least, most);
  }
  if (!(high >= low)) return null;
  return fitToRange(span, low, high);
}

/** The largest distance between the drawn curves and the server's samples, over all columns. */
export function deviation(model: Pick<Model, "frame" | "kept" | "drag">): number {
  const { frame } = model;
  if (!frame) return NaN;
  let most = 0;
  frame.channels.forEach((channel, i) => {
    const signs = keySigns(channel);
    const row = new Float64Array(channel.columns.length);
    frame.times.forEach((time, sample) => {
      sampleRow(channel, time, signs, row);
      row.forEach((value, column) => {
        most = Math.max(most, Math.abs(value - frame.rows[i][column][sample]));
      });
    });
  });
  return most;
}
