/** How far drags reach: the falloff in time, and the feet that stand and are held. */
import { numberField } from "../controls/number";
import { h, icon, replace } from "../dom";
import type { StanceEntry } from "../protocol/messages";
import type { EditActions } from "./actions";
import { MAX_FALLOFF_S, MIN_FALLOFF_S } from "./drag";
import type { EditSession } from "./session";
import type { EditView } from "./view";

const DEFAULT_FALLOFF_S = 0.45; // shown until a drag tells its own
const CLOSE = "M4 4l8 8M12 4l-8 8";
const PIN = "M6 2h4l-.5 4L12 8.5H4L6.5 6zM8 8.5V14";

/** The times at which a foot stands, as text. */
export const stanceText = ({ start, stop }: Pick<StanceEntry, "start" | "stop">): string =>
  `${start.toFixed(2)}–${stop.toFixed(2)} s`;

export function reachSection(session: EditSession, view: EditView, actions: EditActions): HTMLElement {
  const falloff = numberField({
    label: "Falloff in seconds before and after",
    value: DEFAULT_FALLOFF_S,
    minimum: MIN_FALLOFF_S,
    maximum: MAX_FALLOFF_S,
    step: 0.01,
    digits: 2,
    unit: "s",
    change: (value) => (view.falloff = value),
  });
  falloff.element.dataset.testid = "edit-falloff";
  const automatic = h(
    "button",
    {
      type: "button",
      class: "quiet small",
      title: "Take the falloff from the spacing of keys",
      onclick: () => (view.falloff = null),
    },
    "Auto",
  );
  const row = h(
    "div",
    { class: "field", title: "Seconds before and after that a drag may change; the wheel changes it while dragging" },
    h("span", {}, "Falloff ±"),
    h("span", { class: "spread" }, automatic, falloff.element),
  );
  const note = h("p", { class: "muted" }, "These keys were set by hand: drags change their tangents, never the keys.");
  const hold = h("input", { type: "checkbox", "data-testid": "edit-hold-feet" });
  hold.addEventListener("change", () => actions.toggleFeet());
  const feet = h("div", { class: "list feet", "data-testid": "edit-feet" });
  const section = h(
    "div",
    { class: "section", "data-testid": "edit-reach-section" },
    h("h2", {}, "Reach"),
    row,
    note,
    h(
      "label",
      { class: "check", title: "Feet that stand keep their place while something else is dragged (Shift F)" },
      hold,
      "Hold feet that stand",
    ),
    feet,
  );

  function footRow({ joint, start, stop, held }: StanceEntry): HTMLElement {
    const middle = (start + stop) / 2;
    const title = held
      ? `Let ${joint} go, ${stanceText({ start, stop })}`
      : `Hold ${joint}, ${stanceText({ start, stop })}`;
    return h(
      "div",
      {
        class: `row${held ? "" : " loose"}`,
        "data-testid": "edit-foot",
        "data-name": joint,
        "data-held": String(held),
      },
      h(
        "button",
        {
          type: "button",
          class: "quiet small nowrap grow",
          title: "Go there",
          onclick: () => void actions.seek(middle),
        },
        joint,
      ),
      h("span", { class: "muted" }, stanceText({ start, stop })),
      h(
        "button",
        {
          type: "button",
          class: "quiet small square",
          "aria-label": title,
          title,
          onclick: () => actions.holdFoot(joint, middle, !held),
        },
        icon(held ? CLOSE : PIN),
      ),
    );
  }

  let shown = "";
  function draw(): void {
    const state = session.state;
    const windowed = state?.windowed ?? false;
    row.classList.toggle("hidden", !windowed);
    note.classList.toggle("hidden", windowed);
    hold.checked = state?.holdFeet ?? false;
    automatic.setAttribute("aria-pressed", String(view.falloff === null));
    falloff.value = view.falloff ?? view.reach?.radius ?? DEFAULT_FALLOFF_S;
    const key = JSON.stringify([state?.feet, state?.holdFeet]);
    if (key === shown) return;
    shown = key;
    replace(
      feet,
      ...(state?.holdFeet ? state.feet.map(footRow) : []),
      state?.holdFeet && !state.feet.length ? h("p", { class: "muted" }, "No foot stands in this clip.") : null,
    );
  }
  session.onState(draw);
  view.onChange(draw);
  return section;
}
