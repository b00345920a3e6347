/** The inspector (the mode "Stage"): facts about the character on stage; labels and names can be changed. */
import type { Context } from "../context";
import { labelChip } from "../controls/chip";
import { h, icon, replace } from "../dom";
import type { Mode } from "../modes/mode";
import type { CharacterEntry, ClipEntry } from "../protocol/messages";
import { titleOf } from "./library_rows";
import { clock, duration } from "./time";
import type { Transport } from "./transport";

const CROSS = "M5 5l6 6M11 5l-6 6";

/** A count with its noun: "1 joint", "12,345 vertices". */
export function countText(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function facts(rows: [string, string][]): HTMLElement {
  return h("dl", { class: "facts" }, ...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function characterSection(character: CharacterEntry): HTMLElement {
  const figures: [string, string][] = [
    ["File", character.cast ? "built in" : character.file],
    ["Format", character.format],
    ["Vertices", character.vertices.toLocaleString("en")],
    ["Joints", character.joints.toLocaleString("en")],
    ["Shapes", character.shapes.toLocaleString("en")],
  ];
  if (character.controls) figures.push(["Controls", character.controls.toLocaleString("en")]);
  const notes = character.notes.length
    ? h(
        "details",
        {},
        h("summary", {}, countText(character.notes.length, "note on reading", "notes on reading")),
        h("ul", { class: "notes" }, ...character.notes.map((note) => h("li", {}, note))),
      )
    : null;
  return h("section", { class: "section" }, h("h2", { class: "nowrap" }, character.name), facts(figures), notes);
}

export function inspectorMode({ store, connection, notices, stage }: Context, transport: Transport): Mode {
  let host: HTMLElement | null = null;
  let drawn = "";

  function setLabels(clip: ClipEntry, labels: string[]): void {
    const character = store.document?.stage.character ?? "";
    connection.request({ kind: "label", character, clip: clip.name, labels }).catch(notices.showError);
  }

  function labelEditor(clip: ClipEntry): HTMLElement {
    const field = h("input", {
      type: "text",
      class: "label-field",
      placeholder: "Add a label",
      "aria-label": "Add a label",
      list: "known-labels",
      maxlength: 60,
    });
    field.addEventListener("change", () => {
      const label = field.value.trim();
      if (label && !clip.labels.includes(label)) setLabels(clip, [...clip.labels, label]);
    });
    const known = new Set(store.character()?.clips.flatMap((entry) => entry.labels));
    const chips = clip.labels.map((label) => {
      const chip = labelChip(label);
      const without = () =>
        setLabels(
          clip,
          clip.labels.filter((other) => other !== label),
        );
      chip.append(
        h(
          "button",
          { type: "button", class: "chip-cross", "aria-label": `Remove the label ${label}`, onclick: without },
          icon(CROSS),
        ),
      );
      return chip;
    });
    return h(
      "div",
      { class: "wrap" },
      ...chips,
      field,
      h("datalist", { id: "known-labels" }, ...[...known].map((label) => h("option", { value: label }))),
    );
  }

  function momentList(clip: ClipEntry): HTMLElement | null {
    const moments = Object.entries(clip.moments).sort((a, b) => a[1] - b[1]);
    if (!moments.length) return null;
    return h(
      "div",
      { class: "moments" },
      h("h3", {}, "Moments"),
      ...moments.map(([name, time]) =>
        h(
          "button",
          { type: "button", class: "quiet small moment", onclick: () => transport.seek(time) },
          h("span", { class: "diamond", "aria-hidden": "true" }),
          h("span", {}, name),
          h("span", { class: "muted" }, clock(time)),
        ),
      ),
    );
  }

  function clipSection(): HTMLElement {
    const clip = store.clip();
    const take = store.take();
    if (clip) {
      return h(
        "section",
        { class: "section" },
        h("h2", { class: "nowrap" }, titleOf(clip)),
        clip.about ? h("p", { class: "about" }, clip.about) : null,
        facts([
          ["Length", `${duration(clip.seconds)}, ${countText(clip.frames, "frame", "frames")}`],
          ["Rate", `${Number(clip.rate.toFixed(3))} a second${clip.keyed ? ", from keys" : ""}`],
        ]),
        labelEditor(clip),
        momentList(clip),
      );
    }
    if (take)
      return h(
        "section",
        { class: "section" },
        h("h2", {}, take.name),
        facts([["Length", `${duration(take.seconds)}, ${countText(take.frames, "frame", "frames")}`]]),
      );
    return h(
      "section",
      { class: "section" },
      h(
        "p",
        { class: "muted" },
        store.document?.stage.driver === "model"
          ? "A live performance is on stage."
          : store.edit()
            ? `${store.edit()?.name}: ${countText(store.edit()?.keys ?? 0, "key", "keys")}. Continue in Edit.`
            : "At rest: choose a clip in the library.",
      ),
    );
  }

  function selectionSection(): HTMLElement {
    const names = store.document?.selection ?? [];
    const off = () => void connection.request({ kind: "select", names: [] }).catch(notices.showError);
    return h(
      "section",
      { class: "section" },
      h(
        "h2",
        {},
        "Selection",
        h("span", { class: "spring" }),
        names.length ? h("button", { type: "button", class: "quiet small", onclick: off }, "Clear") : null,
      ),
      names.length
        ? h("ul", { class: "selected" }, ...names.slice(0, 40).map((name) => h("li", { class: "nowrap" }, name)))
        : h("p", { class: "muted" }, "Click the character to select a joint; hold Shift for more."),
      names.length
        ? h(
            "button",
            { type: "button", class: "small", onclick: () => stage.frameSelection() },
            "Frame it",
            h("kbd", {}, "F"),
          )
        : null,
    );
  }

  function draw(): void {
    const document = store.document;
    if (!host || !document) return;
    const character = store.character();
    // Redraw only if the content has changed: a label being typed must not lose the focus during a seek.
    const content = JSON.stringify([
      character?.id,
      character?.name,
      store.clip(),
      store.take(),
      document.stage.driver,
      store.edit(),
      document.selection,
      character?.notes.length,
    ]);
    if (content === drawn) return;
    drawn = content;
    if (!character) {
      replace(
        host,
        h(
          "div",
          { class: "empty" },
          h("strong", {}, "The stage is empty"),
          "Drop a character anywhere on this page. glTF, USD, BVH, C3D and Live Link CSV are read.",
        ),
      );
      return;
    }
    replace(host, characterSection(character), clipSection(), selectionSection());
  }

  store.onDocument(draw);
  return {
    id: "stage",
    title: "Stage",
    panel(element) {
      host = element;
      draw();
    },
    enter: draw,
    leave() {},
  };
}
