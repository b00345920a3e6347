/** The perform mode: a learned character, its latent map, and its commands. */
import "./perform.css";
import type { Context } from "../context";
import { h, icon } from "../dom";
import type { Command, Mode } from "../modes/mode";
import { errorText } from "../shell/stage_sync";
import { commandsPanel } from "./commands_panel";
import { dialsPanel } from "./dials";
import { createGazePointer } from "./gaze_pointer";
import { hueOf } from "./hues";
import { learnPanel } from "./learn_panel";
import { type LatentMap, readMap } from "./map_file";
import { createMapView } from "./map_view";
import { mixPanel } from "./mix_panel";
import { createPerformanceStore } from "./performance_store";
import { scriptPanel } from "./script_editor";
import { steerPanel } from "./steer_panel";
import { takesPanel } from "./takes_panel";

const WIDEN = "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5 9 7M2.5 13.5 7 9";

export function performMode(context: Context): Mode {
  const { connection, notices } = context;
  const performanceStore = createPerformanceStore(context);
  const view = createMapView(
    {
      move: (moment) =>
        performanceStore.tell({
          command: "move",
          pose: `${moment.clip}@${moment.seconds.toFixed(4)}`,
          label: moment.label,
        }),
      transition: (label) => performanceStore.tell({ command: "transition", label }),
    },
    context.stage,
  );
  const gaze = createGazePointer(context, () => performanceStore.model() !== null);
  const labelOfClip = new Map<string, string>();
  const takes = takesPanel(context, performanceStore);
  const buttons = commandsPanel(performanceStore, () => labelOfClip);
  const full = h("div", { class: "map-full hidden" });
  const widen = h(
    "button",
    {
      type: "button",
      class: "quiet small square",
      "aria-label": "Latent map full size",
      "aria-pressed": "false",
      title: "Full size (M)",
      onclick: () => toggleFull(),
    },
    icon(WIDEN),
  );
  const legend = h("div", { class: "map-legend" });
  const away = h(
    "p",
    { class: "map-away muted hidden" },
    "The map is full size. ",
    h("kbd", {}, "M"),
    " brings it back.",
  );
  const place = h("div", { class: "map-place" }, away, view.element, legend, h("div", { class: "map-corner" }, widen));
  const doing = h("span", { class: "what nowrap" });
  const cost = h("span", { class: "cost", title: "Server time of a frame of the performance, without drawing" });
  const swatch = h("span", { class: "swatch" });
  const status = h("div", { class: "doing", role: "status", "aria-live": "off" }, swatch, doing, cost);
  let wanted = "";

  function toggleFull(open = full.classList.contains("hidden")): void {
    if (!performanceStore.model()) return;
    full.classList.toggle("hidden", !open);
    away.classList.toggle("hidden", !open);
    (open ? full : place).append(view.element);
    widen.setAttribute("aria-pressed", String(open));
    view.updateLayout();
  }

  async function fetchMap(model: string): Promise<void> {
    wanted = model;
    legend.textContent = "The map is being drawn…";
    try {
      const answer = await fetch(`map/${encodeURIComponent(model)}`);
      if (!answer.ok) throw new Error(await errorText(answer));
      const map = readMap(await answer.arrayBuffer());
      if (wanted === model) show(map);
    } catch (reason) {
      if (wanted !== model) return;
      legend.textContent = "";
      notices.show(
        "error",
        `The map could not be drawn: ${reason instanceof Error ? reason.message : String(reason)}`,
        "Choose the model again.",
      );
    }
  }

  function show(map: LatentMap): void {
    labelOfClip.clear();
    for (const clip of map.clips)
      if (!labelOfClip.has(clip.clip)) labelOfClip.set(clip.clip, map.labels[clip.label].label);
    view.show(map);
    legend.textContent = `${(map.points.length / 3).toLocaleString("en")} poses, ${map.clips.length} clips`;
    buttons.refresh();
  }

  performanceStore.onModel((model) => {
    place.classList.toggle("hidden", model === null);
    status.classList.toggle("hidden", model === null);
    if (model) {
      if (model.id !== wanted) void fetchMap(model.id);
    } else {
      wanted = "";
      view.show(null);
      full.classList.add("hidden");
      away.classList.add("hidden");
      widen.setAttribute("aria-pressed", "false");
      place.append(view.element);
    }
  });
  performanceStore.on((event) => {
    view.report(event.voices, event.label);
    swatch.style.setProperty("--hue", hueOf(event.label));
    doing.textContent =
      event.doing && (!event.done || event.voices.length > 1) ? event.doing : `${event.label}, idling`;
    cost.textContent = `${event.ms.toFixed(2)} ms a frame`;
  });

  const label = (number: number): Command => ({
    id: `perform.label${number}`,
    title: `Transition to label ${number}`,
    keys: [String(number)],
    enabled: () => (performanceStore.model()?.labels.length ?? 0) >= number,
    run: () =>
      performanceStore.tell({ command: "transition", label: performanceStore.model()?.labels[number - 1] ?? null }),
  });
  return {
    id: "perform",
    title: "Perform",
    commands: [
      {
        id: "perform.map",
        title: "Latent map full size or in the panel",
        keys: ["m"],
        enabled: () => performanceStore.model() !== null,
        run: () => toggleFull(),
      },
      {
        id: "perform.record",
        title: "Record, or stop and keep the take",
        keys: ["Shift+r"],
        run: () => takes.toggle(),
      },
      {
        id: "perform.idle",
        title: "Idle where it is",
        keys: ["0"],
        enabled: () => performanceStore.model() !== null,
        run: () => performanceStore.tell({ command: "idle" }),
      },
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(label),
    ],
    panel(host) {
      host.classList.add("perform");
      host.append(
        place,
        status,
        learnPanel(context, performanceStore),
        ...buttons.elements.slice(0, 1),
        steerPanel(performanceStore),
        dialsPanel(context, performanceStore),
        ...buttons.elements.slice(1),
        mixPanel(performanceStore),
        takes.element,
        scriptPanel(context, performanceStore),
      );
    },
    overlay(host) {
      host.append(full);
    },
    enter() {
      view.awake = gaze.awake = true;
      const model = performanceStore.models()[0];
      if (!performanceStore.model() && model && context.store.document?.stage.driver !== "take")
        connection.request({ kind: "perform", model: model.id }).catch(notices.showError);
    },
    leave() {
      view.awake = gaze.awake = false;
    },
  };
}
