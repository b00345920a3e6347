/** What fits into the view, and how far the drawn curves are from what the server evaluates. */
import type { Span } from "../../shell/ruler";
import { type CurveChannel, keyFrom } from "./curves";
import { shownValue } from "./hits";
import { columnExtent } from "./lanes";
import type { Model } from "./model";
import { keySigns, sampleRow } from "./sampling";
import { fittedView, type View } from "./view";

/** The joints (targets) of channels, sorted, each once. */
export const targetsOf = (channels: readonly CurveChannel[], chosen: readonly number[]) =>
  [...new Set(chosen.map((number) => channels[number].target))].sort();

/** The view of the selected keys, or of all where fewer than two are; null where nothing is there. */
export function framed(
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
  if (!values) return { ...fittedView(span, view.low, view.high), low: view.low, high: view.high };
  let low = Infinity;
  let high = -Infinity;
  for (const lane of model.lanes) {
    const channel = model.kept[lane.channel];
    if (some && !model.selection.has(lane.channel)) continue;
    const first = Math.max(0, keyFrom(channel.times, span.start) - 1);
    const last = Math.min(channel.times.length - 1, keyFrom(channel.times, span.stop));
    const [least, most] = columnExtent(channel, lane.column, first, last).map((value) => shownValue(lane, value));
    low = Math.min(low, least, most);
    high = Math.max(high, least, most);
  }
  if (!(high >= low)) return null;
  return fittedView(span, low, high);
}

/** The farthest that the curves which are drawn are from the rows that the server sampled, over all columns. */
export function deviation(model: Pick<Model, "frame" | "kept" | "gesture">): number {
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
