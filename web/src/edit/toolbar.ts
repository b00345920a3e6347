/** Over the stage: the tools, the current drag, and the number of keys. */
import type { Context } from "../context";
import { h, icon } from "../dom";
import type { ActiveDrag, DragController } from "./drag";
import type { EditSession } from "./session";
import type { EditView, Tool } from "./view";

const ICONS: Record<Tool | "pose", string> = {
  move: "M8 1.5v13M1.5 8h13M8 1.5 6 3.5M8 1.5l2 2M8 14.5l-2-2M8 14.5l2-2M1.5 8l2-2M1.5 8l2 2M14.5 8l-2-2M14.5 8l-2 2",
  turn: "M13 6a5.5 5.5 0 1 0 .5 3.5M13.2 2.2V6H9.4",
  time: "M1.5 8h13M4 5 1.5 8 4 11M12 5l2.5 3L12 11M8 4v8",
  sketch: "M2 13.5c2-5 4-6 5-4s-1 4 1 3.5 2-6 6-9.5",
  pose: "M8 1.7a1.6 1.6 0 1 0 0 3.2a1.6 1.6 0 1 0 0-3.2M2.5 6.5 8 6l5.5.5M8 6v4M8 10l-3 4.5M8 10l3 4.5",
};
export const TOOLS: Record<Tool, { title: string; about: string; keys: { blender: string; maya: string } }> = {
  move: {
    title: "Move",
    about: "Drag a curve, or the character, to move the point",
    keys: { blender: "G", maya: "W" },
  },
  turn: { title: "Turn", about: "Drag a ring to turn the point", keys: { blender: "R", maya: "E" } },
  time: {
    title: "Timing",
    about: "Pull the arrows apart to be faster here, together to be slower",
    keys: { blender: "S", maya: "R" },
  },
  sketch: { title: "Sketch", about: "Draw the path that the point should take", keys: { blender: "D", maya: "D" } },
};
const KEYS_TITLE = "Keys of all channels; no drag changes their number";
const VERBS = { move: "Moving", turn: "Turning", time: "Timing of" } as const;

export interface Toolbar {
  /** Shows what a press would do. */
  hint(text: string): void;
  /** Shows what is being computed; an empty text ends it. */
  busy(text: string): void;
}

export function createToolbar(
  { store }: Context,
  host: HTMLElement,
  session: EditSession,
  view: EditView,
  drags: DragController,
): Toolbar {
  const tools = (Object.keys(TOOLS) as Tool[]).map((tool) => {
    const { title, about, keys } = TOOLS[tool];
    return h(
      "button",
      {
        type: "button",
        class: "quiet",
        "data-testid": `edit-tool-${tool}`,
        "aria-pressed": "false",
        title: `${title} (${keys.blender}; Maya: ${keys.maya}). ${about}`,
        onclick: () => (view.tool = tool),
      },
      icon(ICONS[tool]),
      h("span", { class: "wide" }, title),
    );
  });
  const pose = h(
    "button",
    {
      type: "button",
      class: "quiet",
      "data-testid": "edit-pose",
      "aria-pressed": "false",
      title: "Pose the whole body at a key (B)",
      onclick: () => (view.posing = !view.posing),
    },
    icon(ICONS.pose),
    h("span", { class: "wide" }, "Pose"),
  );
  const bar = h(
    "div",
    { class: "edit-tools", role: "toolbar", "aria-label": "Edit tools" },
    ...tools,
    h("span", { class: "rule" }),
    pose,
  );
  const keys = h("output", {
    class: "edit-keys",
    "data-testid": "edit-keys",
    "aria-label": "Keys",
    title: KEYS_TITLE,
  });
  const line = h("div", { class: "edit-line", role: "status", "aria-live": "off", "data-testid": "edit-line" });
  host.append(bar, keys, line);
  const [verbText, figure, when] = [h("strong", {}), h("span", { class: "figure" }), h("span", { class: "muted" })];
  const reach = h("span", { class: "reach", "data-testid": "edit-reach" });
  let hintText = "";
  let busy = "";

  function draw(): void {
    const state = session.state;
    bar.classList.toggle("hidden", !state);
    keys.classList.toggle("hidden", !state);
    if (state) {
      const count = `${state.keys.toLocaleString("en")} ${state.keys === 1 ? "key" : "keys"}`;
      keys.textContent = state.baked ? `${state.frames.toLocaleString("en")} frames` : count;
      keys.title = state.baked ? "Every frame is a key; drags change the frames" : KEYS_TITLE;
    }
    (Object.keys(TOOLS) as Tool[]).forEach((tool, i) => {
      tools[i].setAttribute("aria-pressed", String(view.tool === tool));
      tools[i].toggleAttribute("disabled", view.posing && (tool === "time" || tool === "sketch"));
    });
    pose.setAttribute("aria-pressed", String(view.posing));
    pose.toggleAttribute("disabled", state?.baked ?? false);
    if (drags.active) showDrag(drags.active);
    else line.replaceChildren(h("span", { class: busy ? "" : "muted" }, busy || hintText || idleHint()));
    line.classList.toggle("hidden", !state || line.textContent === "");
  }

  /** Shows the current drag; only the texts change while it goes on. */
  function showDrag(drag: ActiveDrag): void {
    if (verbText.parentElement !== line)
      line.replaceChildren(
        verbText,
        figure,
        when,
        reach,
        ...(drag.operation === "time" ? [] : ["X", "Y", "Z"]).map((key) => h("kbd", {}, key)),
        h("kbd", {}, "Esc"),
      );
    const radius = drag.posing || drag.operation === "time" ? undefined : view.reach?.radius;
    reach.textContent = radius === undefined ? "" : `± ${radius.toFixed(2)} s by the wheel`;
    const lock = drag.lock
      ? ` along ${drag.lock.local ? "its own" : "the world's"} ${drag.lock.axis.toUpperCase()}`
      : "";
    const cost = drag.outcome ? `${drag.outcome.ms.toFixed(0)} ms` : "";
    verbText.textContent = `${VERBS[drag.operation]} ${drag.name}${lock}`;
    figure.textContent = drag.readout || "0";
    when.textContent = [`at ${drag.time.toFixed(2)} s`, cost].filter(Boolean).join(" · ");
  }

  function idleHint(): string {
    const state = session.state;
    if (!state || store.document?.stage.playing) return "";
    if (view.posing) return "Drag any point of the body; pinned points stay. Only channels with a key here move.";
    if (view.tool === "sketch")
      return view.active === null
        ? "Click a point first, then draw its path."
        : "Draw the path that the point should take. The range of the timeline, if one is set, is its time.";
    return state.curves.length ? "" : "Click a point of the character to see its path.";
  }

  session.onState(draw);
  view.onChange(draw);
  drags.onChange(draw);
  store.onDocument(draw);
  return {
    hint(text) {
      if (text === hintText) return;
      hintText = text;
      draw();
    },
    busy(text) {
      busy = text;
      draw();
    },
  };
}
