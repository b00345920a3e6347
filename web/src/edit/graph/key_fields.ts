/** Fields for a single selected key, beside the tools: its frame and its value. */
import { numberField } from "../../controls/number";
import { h } from "../../dom";
import type { ChangeQueue } from "./change_queue";
import { commitDrag, transformSelection } from "./key_change";
import { snapShift } from "./key_drags";
import { dragMessage } from "./key_messages";
import { roomToMove } from "./key_transform";
import { keyFactors, scaleOf, unitOf } from "./lanes";
import { hasValues, type Model } from "./model";
import { selectedKeys } from "./selection";

interface SingleKey {
  channel: number;
  column: number; // -1 for all
  key: number;
}

/** The selected key, or null if there are none or several; its column if only one is selected. */
export function singleKey(model: Pick<Model, "selection" | "kept">): SingleKey | null {
  if (model.selection.size !== 1) return null;
  const [[channel, flags]] = model.selection;
  const n = model.kept[channel].columns.length;
  const keys = selectedKeys(flags, n);
  const key = keys.indexOf(1);
  if (key < 0 || keys.lastIndexOf(1) !== key) return null;
  const columns = [...flags.subarray(key * n, (key + 1) * n).keys()].filter((column) => flags[key * n + column]);
  return { channel, column: columns.length === 1 ? columns[0] : -1, key };
}

export function createKeyFields(model: Model, queue: ChangeQueue): HTMLElement {
  const element = h("span", { class: "graph-fields", "data-testid": "graph-fields" });
  let shown = "";

  /** Moves the selection by seconds and by a shown value; commits if final. */
  function moveKey(seconds: number, value: number, final: boolean): void {
    const { kept, selection } = model;
    if (Math.abs(seconds) < 1e-9 && Math.abs(value) < 1e-9) {
      model.showDrag(null); // Esc restored the number
      queue.abandon();
      return;
    }
    const frame = 1 / (model.state?.rate || 30);
    const only = singleKey(model);
    const by =
      only && seconds
        ? snapShift(kept[only.channel].times[only.key], seconds, frame, roomToMove(selection, kept, frame))
        : 0;
    const offset = (channel: number) => value / scaleOf(kept[channel].kind);
    const result = transformSelection(kept, selection, { time: [1, by], scale: 1, offset });
    model.showDrag(result.shown);
    if (final) void commitDrag({ model, queue }, result);
    else queue.preview(() => dragMessage(kept, result.shown, selection, result.transform));
  }

  function fields(only: SingleKey): HTMLElement[] {
    const channel = model.kept[only.channel];
    const rate = model.state?.rate || 30;
    const frame = Math.round(channel.times[only.key] * rate * 100) / 100;
    const time = numberField({
      label: "Frame",
      value: frame,
      step: 1,
      digits: Number.isInteger(frame) ? 0 : 2,
      input: (next) => moveKey((next - frame) / rate, 0, false),
      change: (next) => moveKey((next - frame) / rate, 0, true),
    });
    const line = (name: string, field: HTMLElement) =>
      h("label", { class: "graph-field" }, h("span", { class: "muted nowrap" }, name), field);
    const all = [line("Frame", time.element)];
    if (only.column < 0 || !hasValues(channel)) return all;
    const scale = scaleOf(channel.kind);
    const stored =
      channel.values[only.key * channel.columns.length + only.column] * keyFactors(channel)[only.key] * scale;
    const value = Math.round(stored * 1e4) / 1e4;
    const setShownValue = (next: number, final: boolean) => moveKey(0, next === value ? 0 : next - stored, final);
    const step = channel.kind === "euler" ? 1 : 0.01;
    const field = numberField({
      label: "Value",
      value,
      step,
      digits: 4,
      unit: unitOf(channel.kind),
      input: (next) => setShownValue(next, false),
      change: (next) => setShownValue(next, true),
    });
    return [...all, line(`Value ${channel.columns[only.column]}`, field.element)];
  }

  function draw(): void {
    const only = singleKey(model);
    const now = only
      ? JSON.stringify([
          only,
          model.state?.revision,
          model.kept[only.channel].times[only.key],
          [...model.kept[only.channel].values.slice(0, 400)],
        ])
      : "";
    if (now === shown) return;
    shown = now;
    element.replaceChildren(...(only ? fields(only) : []));
  }
  model.onChange((what) => what !== "drag" && !model.drag && draw());
  return element;
}
