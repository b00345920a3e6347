/** The selected joint: its stiffness and its limits. */
import type { Context } from "../context";
import { numberField } from "../controls/number";
import { slider } from "../controls/slider";
import { h, replace } from "../dom";
import type { EditChannel, LimitEntry } from "../protocol/messages";
import type { EditSession } from "./session";
import type { EditView } from "./view";

const DEGREES = 180 / Math.PI;

export interface LimitableColumn {
  column: string; // as in the request
  title: string;
  angle: boolean; // radians, shown in degrees
}

/** The columns of a target that can be limited; a quaternion is converted to Euler angles for that. */
export function limitableColumns(channels: readonly EditChannel[]): LimitableColumn[] {
  return channels.flatMap(({ channel, columns }) => {
    if (channel === "rotation")
      return ["x", "y", "z"].map((column) => ({ column, title: `Turn ${column.toUpperCase()}`, angle: true }));
    return columns.map((column) => {
      const short = column.split(".").at(-1) ?? column;
      if (channel === "euler") return { column: short, title: `Turn ${short.toUpperCase()}`, angle: true };
      if (channel === "translation" || channel === "scale")
        return {
          column: `${channel}.${short}`,
          title: `${channel === "scale" ? "Scale" : "Move"} ${short.toUpperCase()}`,
          angle: false,
        };
      return { column: short, title: short, angle: false };
    });
  });
}

export function jointSection({ store }: Context, session: EditSession, view: EditView): HTMLElement {
  const title = h("span", { class: "nowrap" }, "Joint");
  const body = h("div", {});
  const section = h("div", { class: "section", "data-testid": "edit-joint" }, h("h2", {}, title), body);
  let shown = "";

  function limitRow(
    target: string,
    { column, title: name, angle }: LimitableColumn,
    limit: LimitEntry | undefined,
  ): HTMLElement {
    const scale = angle ? DEGREES : 1;
    const unit = angle ? "°" : column.startsWith("translation") ? "m" : "";
    const send = (low: number | null, high: number | null, fit = false): void => {
      // After a refusal the old value is shown again.
      void session.ask({ kind: "editLimit", target, column, low, high, fit }).then(() => draw(true));
    };
    const on = h("input", {
      type: "checkbox",
      "aria-label": `Limit ${name}`,
      checked: limit !== undefined,
      "data-testid": `edit-limit-${column}`,
    });
    const usual = angle ? 90 : 1;
    on.addEventListener("change", () => (on.checked ? send(-usual / scale, usual / scale, true) : send(null, null)));
    const field = (end: "low" | "high"): HTMLElement => {
      const value = limit?.[end] ?? (end === "low" ? -usual / scale : usual / scale);
      return numberField({
        label: `${name}, ${end === "low" ? "lowest" : "highest"}`,
        value: value * scale,
        step: angle ? 1 : 0.01,
        digits: angle ? 0 : 2,
        unit,
        change: (next) =>
          send(
            end === "low" ? next / scale : (limit?.low ?? null),
            end === "high" ? next / scale : (limit?.high ?? null),
          ),
      }).element;
    };
    return h(
      "div",
      { class: "limit" },
      h("label", { class: "check nowrap" }, on, name),
      ...(limit ? [field("low"), h("span", { class: "muted" }, "to"), field("high")] : []),
    );
  }

  function draw(anew = false): void {
    const state = session.state;
    const target = store.document?.selection[0] ?? "";
    const channels = state?.channels.filter((channel) => channel.target === target) ?? [];
    const limits = state?.limits.filter((limit) => limit.target === target) ?? [];
    const stiffness = state?.stiffness[target] ?? 1;
    const key = JSON.stringify([
      target,
      channels.map((channel) => [channel.channel, channel.columns]),
      limits,
      stiffness,
    ]);
    section.classList.toggle("hidden", !state || !channels.length);
    if (key === shown && !anew) return;
    const focused = body.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : null;
    shown = key;
    title.textContent = target;
    const columns = limitableColumns(channels);
    const stiff = slider({
      label: "Stiffness",
      value: stiffness,
      reset: 1,
      minimum: 0,
      maximum: 10,
      step: 0.05,
      digits: 2,
      about: "Resistance to drags: 1 is the default, 0 moves freely, 10 hardly moves",
      change: (value) => void session.ask({ kind: "editStiffness", target, value: value === 1 ? null : value }),
    });
    replace(
      body,
      stiff.element,
      h("h3", { class: "limits-title" }, "Limits"),
      ...columns.map((column) =>
        limitRow(
          target,
          column,
          limits.find((limit) => limit.column === column.column),
        ),
      ),
      channels.some((channel) => channel.channel === "rotation")
        ? h("p", { class: "muted" }, "This joint rotates by a quaternion; a limit converts it to Euler angles.")
        : null,
    );
    // Keep the focus, for setting several limits by keyboard.
    if (focused) body.querySelector<HTMLElement>(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  }

  session.onState(() => draw());
  store.onDocument(() => draw());
  view.onChange(() => draw());
  return section;
}
