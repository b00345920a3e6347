/** Buttons for commands: labels (TRANSITION), named poses (IDLE), clips (PLAY). */
import { h, replace } from "../dom";
import { hueOf } from "./hues";
import { filterNames } from "./name_filter";
import type { PerformanceStore } from "./performance_store";
import type { ModelEntry } from "./wire";

const SEARCH_THRESHOLD = 12; // poses or clips, above which a search field is shown
const MAX_POSES = 24; // shown at a time

/** The label of each clip of a model, from its map; empty before the map is loaded. */
export type LabelsOfClips = () => ReadonlyMap<string, string>;

export function commandsPanel(
  performanceStore: PerformanceStore,
  labelOf: LabelsOfClips,
): { elements: HTMLElement[]; refresh(): void } {
  const labels = h("div", { class: "buttons" });
  const poses = h("div", { class: "buttons" });
  const clips = h("div", { class: "list" });
  const search = (name: string, changed: () => void): HTMLInputElement =>
    h("input", { type: "search", class: "find hidden", placeholder: name, "aria-label": name, oninput: changed });
  const findPose = search("Find a pose", () => fillPoses());
  const findClip = search("Find a clip", () => fillClips());
  const posesAside = h("span", { class: "aside" });
  const clipsAside = h("span", { class: "aside" });
  const labelSection = h(
    "div",
    { class: "section" },
    h("h2", {}, "Labels", h("span", { class: "aside" }, "transition")),
    labels,
  );
  const poseSection = h(
    "details",
    { class: "section", open: true },
    h("summary", {}, "Poses", posesAside),
    findPose,
    poses,
  );
  const clipSection = h(
    "details",
    { class: "section", open: true },
    h("summary", {}, "Clips", clipsAside),
    findClip,
    clips,
  );
  let buttons = new Map<string, HTMLElement>();

  function build(model: ModelEntry | null): void {
    const hidden = model === null;
    for (const section of [labelSection, poseSection, clipSection]) section.classList.toggle("hidden", hidden);
    if (!model) return;
    buttons = new Map(
      model.labels.map((label, number) => {
        const key = number < 9 ? ` (${number + 1})` : "";
        return [
          label,
          h(
            "button",
            {
              type: "button",
              class: "hued",
              style: `--hue: ${hueOf(label)}`,
              title: `Transition to ${label}${key}`,
              onclick: () => performanceStore.tell({ command: "transition", label }),
            },
            label,
          ),
        ];
      }),
    );
    replace(labels, ...buttons.values());
    poseSection.classList.toggle("hidden", model.poses.length === 0);
    posesAside.textContent = `idle, ${model.poses.length}`;
    clipsAside.textContent = `play, ${model.clips.length}`;
    for (const [field, names] of [
      [findPose, model.poses],
      [findClip, model.clips],
    ] as const) {
      field.value = "";
      field.classList.toggle("hidden", names.length <= SEARCH_THRESHOLD);
    }
    fillPoses();
    fillClips();
    markCurrent(performanceStore.now?.label ?? "");
  }

  function fillPoses(): void {
    const shown = filterNames(performanceStore.model()?.poses ?? [], findPose.value, MAX_POSES);
    replace(
      poses,
      ...shown.map((pose) =>
        h(
          "button",
          {
            type: "button",
            class: "small",
            title: `Idle near ${pose}`,
            onclick: () => performanceStore.tell({ command: "idle", pose }),
          },
          pose,
        ),
      ),
      shown.length ? null : emptyHint(),
    );
  }

  function fillClips(): void {
    const labels = labelOf();
    const all = performanceStore.model()?.clips ?? [];
    const shown = findClip.value ? filterNames(all, findClip.value, all.length) : all;
    replace(
      clips,
      ...shown.map((clip) => {
        const label = labels.get(clip);
        const style = label ? `--hue: ${hueOf(label)}` : undefined;
        const button = h(
          "button",
          {
            type: "button",
            class: "quiet small grow nowrap",
            title: `Play ${clip} as it was made`,
            onclick: () => performanceStore.tell({ command: "play", clip }),
          },
          clip,
        );
        return h(
          "div",
          { class: "row" },
          h("span", { class: "swatch", style }),
          button,
          label && label !== clip ? h("span", { class: "figure" }, label) : null,
        );
      }),
      shown.length ? null : emptyHint(),
    );
  }

  const emptyHint = (): HTMLElement => h("p", { class: "muted" }, "No name matches.");

  function markCurrent(label: string): void {
    for (const [name, button] of buttons) button.classList.toggle("current", name === label);
  }

  let markedLabel = "";
  performanceStore.on((event) => {
    if (event.label === markedLabel) return;
    markedLabel = event.label;
    markCurrent(markedLabel);
  });
  performanceStore.onModel((model) => {
    markedLabel = "";
    build(model);
  });
  return { elements: [labelSection, poseSection, clipSection], refresh: fillClips };
}
