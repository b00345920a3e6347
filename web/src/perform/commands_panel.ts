/** Buttons of what a character can be told: labels (TRANSITION), named poses (IDLE), clips (PLAY). */
import { h, replace } from "../dom";
import { hueOf } from "./hues";
import { found } from "./name_filter";
import type { Performing } from "./performance_store";
import type { ModelEntry } from "./wire";

const FEW = 12; // poses or clips; of more, those are shown that a few letters find
const SHOWN = 24; // poses at a time

/** The label of each clip of a model, as its map tells; empty before the map is here. */
export type LabelsOfClips = () => ReadonlyMap<string, string>;

export function commandsPanel(
  performing: Performing,
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
              onclick: () => performing.tell({ command: "transition", label }),
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
      field.classList.toggle("hidden", names.length <= FEW);
    }
    fillPoses();
    fillClips();
    mark(performing.now?.label ?? "");
  }

  function fillPoses(): void {
    const shown = found(performing.model()?.poses ?? [], findPose.value, SHOWN);
    replace(
      poses,
      ...shown.map((pose) =>
        h(
          "button",
          {
            type: "button",
            class: "small",
            title: `Idle near ${pose}`,
            onclick: () => performing.tell({ command: "idle", pose }),
          },
          pose,
        ),
      ),
      shown.length ? null : nothing(),
    );
  }

  function fillClips(): void {
    const labels = labelOf();
    const all = performing.model()?.clips ?? [];
    const shown = findClip.value ? found(all, findClip.value, all.length) : all;
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
            onclick: () => performing.tell({ command: "play", clip }),
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
      shown.length ? null : nothing(),
    );
  }

  const nothing = (): HTMLElement => h("p", { class: "muted" }, "None is called that.");

  function mark(label: string): void {
    for (const [name, button] of buttons) button.classList.toggle("current", name === label);
  }

  let marked = "";
  performing.on((event) => {
    if (event.label === marked) return;
    marked = event.label;
    mark(marked);
  });
  performing.onModel((model) => {
    marked = "";
    build(model);
  });
  return { elements: [labelSection, poseSection, clipSection], refresh: fillClips };
}
