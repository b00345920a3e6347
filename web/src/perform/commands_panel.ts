/** Buttons of what a character can be told: labels (TRANSITION), named poses (IDLE), clips (PLAY). */
import { h, replace } from "../dom";
import { hueOf } from "./hues";
import type { Performing } from "./performing";
import type { ModelEntry } from "./wire";

const MOST_OPEN = 12; // poses or clips; more are folded away at first

/** The label of each clip of a model, as its map tells; empty before the map is here. */
export type LabelsOfClips = () => ReadonlyMap<string, string>;

export function commandsPanel(performing: Performing, labelOf: LabelsOfClips): { elements: HTMLElement[]; refresh(): void } {
  const labels = h("div", { class: "buttons" });
  const poses = h("div", { class: "buttons" });
  const clips = h("div", { class: "list" });
  const posesAside = h("span", { class: "aside" });
  const clipsAside = h("span", { class: "aside" });
  const labelSection = h("div", { class: "section" }, h("h2", {}, "Labels", h("span", { class: "aside" }, "transition")), labels);
  const poseSection = h("details", { class: "section", open: true }, h("summary", {}, "Poses", posesAside), poses);
  const clipSection = h("details", { class: "section", open: true }, h("summary", {}, "Clips", clipsAside), clips);
  let buttons = new Map<string, HTMLElement>();

  function build(model: ModelEntry | null): void {
    const hidden = model === null;
    for (const section of [labelSection, poseSection, clipSection]) section.classList.toggle("hidden", hidden);
    if (!model) return;
    buttons = new Map(
      model.labels.map((label, number) => {
        const key = number < 9 ? ` (${number + 1})` : "";
        return [label, h("button", { type: "button", class: "hued", style: `--hue: ${hueOf(label)}`, title: `Transition to ${label}${key}`, onclick: () => performing.tell({ command: "transition", label }) }, label)];
      }),
    );
    replace(labels, ...buttons.values());
    poseSection.classList.toggle("hidden", model.poses.length === 0);
    poseSection.open = model.poses.length <= MOST_OPEN;
    posesAside.textContent = `idle, ${model.poses.length}`;
    replace(poses, ...model.poses.map((pose) => h("button", { type: "button", class: "small", title: `Idle near ${pose}`, onclick: () => performing.tell({ command: "idle", pose }) }, pose)));
    clipsAside.textContent = `play, ${model.clips.length}`;
    fillClips(model);
    mark(performing.now?.label ?? "");
  }

  function fillClips(model: ModelEntry): void {
    const found = labelOf();
    replace(
      clips,
      ...model.clips.map((clip) => {
        const label = found.get(clip);
        const style = label ? `--hue: ${hueOf(label)}` : undefined;
        return h("div", { class: "row" }, h("span", { class: "swatch", style }), h("button", { type: "button", class: "quiet small grow nowrap", title: `Play ${clip} as it was made`, onclick: () => performing.tell({ command: "play", clip }) }, clip), label && label !== clip ? h("span", { class: "figure" }, label) : null);
      }),
    );
  }

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
  const refresh = (): void => {
    const model = performing.model();
    if (model) fillClips(model);
  };
  return { elements: [labelSection, poseSection, clipSection], refresh };
}
