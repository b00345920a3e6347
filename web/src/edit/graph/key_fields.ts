/** The one selected key in figures, beside the tools: its frame and its value, to be dragged or typed. */
import { numberField } from "../../controls/number";
import { h } from "../../dom";
import type { Sender } from "./change_queue";
import { finish, transformedBy } from "./key_change";
import { snappedBy } from "./key_drags";
import { gestureMessage } from "./key_messages";
import { roomToMove } from "./key_transform";
import { keyFactors, scaleOf, unitOf } from "./lanes";
import { hasValues, type Model } from "./model";
import { movedKeys } from "./selection";

interface Only {
  channel: number;
  column: number; // -1: all
  key: number;
}

/** The one selected key, or null where there are none or several; its column where only one is. */
export function onlyKey(model: Pick<Model, "selection" | "kept">): Only | null {
  if (model.selection.size !== 1) return null;
  const [[channel, flags]] = model.selection;
  const n = model.kept[channel].columns.length;
  const keys = movedKeys(flags, n);
  const key = keys.indexOf(1);
  if (key < 0 || keys.lastIndexOf(1) !== key) return null;
  const columns = [...flags.subarray(key * n, (key + 1) * n).keys()].filter((column) => flags[key * n + column]);
  return { channel, column: columns.length === 1 ? columns[0] : -1, key };
}

export function createKeyFields(model: Model, sender: Sender): HTMLElement {
  const element = h("span", { class: "graph-fields", "data-testid": "graph-fields" });
  let shown = "";

  /** Moves the selection by seconds and by a value as shown; kept when final. */
  function change(seconds: number, value: number, final: boolean): void {
    const { kept, selection } = model;
    if (Math.abs(seconds) < 1e-9 && Math.abs(value) < 1e-9) {
      model.show(null); // Esc brought the number back
      sender.abandon();
      return;
    }
    const frame = 1 / (model.state?.rate || 30);
    const only = onlyKey(model);
    const by =
      only && seconds
        ? snappedBy(kept[only.channel].times[only.key], seconds, frame, roomToMove(selection, kept, frame))
        : 0;
    const offset = (channel: number) => value / scaleOf(kept[channel].kind);
    const made = transformedBy(kept, selection, { time: [1, by], scale: 1, offset });
    model.show(made.shown);
    if (final) void finish({ model, sender }, made);
    else sender.show(() => gestureMessage(kept, made.shown, selection, made.done));
  }

  function fields(only: Only): HTMLElement[] {
    const channel = model.kept[only.channel];
    const rate = model.state?.rate || 30;
    const frame = Math.round(channel.times[only.key] * rate * 100) / 100;
    const time = numberField({
      label: "Frame",
      value: frame,
      step: 1,
      digits: Number.isInteger(frame) ? 0 : 2,
      input: (next) => change((next - frame) / rate, 0, false),
      change: (next) => change((next - frame) / rate, 0, true),
    });
    const line = (name: string, field: HTMLElement) =>
      h("label", { class: "graph-field" }, h("span", { class: "muted nowrap" }, name), field);
    const all = [line("Frame", time.element)];
    if (only.column < 0 || !hasValues(channel)) return all;
    const scale = scaleOf(channel.kind);
    const stored =
      channel.values[only.key * channel.columns.length + only.column] * keyFactors(channel)[only.key] * scale;
    const value = Math.round(stored * 1e4) / 1e4;
    const put = (next: number, final: boolean) => change(0, next === value ? 0 : next - stored, final);
    const step = channel.kind === "euler" ? 1 : 0.01;
    const field = numberField({
      label: "Value",
      value,
      step,
      digits: 4,
      unit: unitOf(channel.kind),
      input: (next) => put(next, false),
      change: (next) => put(next, true),
    });
    return [...all, line(`Value ${channel.columns[only.column]}`, field.element)];
  }

  function draw(): void {
    const only = onlyKey(model);
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
  model.onChange((what) => what !== "gesture" && !model.gesture && draw());
  return element;
}
