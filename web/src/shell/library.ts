/** The library: characters, the clips and takes of the character on stage, and labels, with a search. */
import type { Context } from "../context";
import { labelChip } from "../controls/chip";
import { showMenu } from "../controls/menu";
import { h, icon, replace } from "../dom";
import { labelColour } from "../labels";
import type { CharacterEntry, ClipEntry, Document, TakeEntry } from "../protocol/messages";
import { exportItems } from "./export_menu";
import { labelsOf, libraryRows, titleOf } from "./library_rows";
import { askFor } from "./prompt";
import { type Row, rowList } from "./rowlist";
import { duration } from "./time";

const SEARCH = "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M10.5 10.5L14 14";

export interface Library {
  focusSearch(): void;
}

/** `openClip` shows a character with a clip, or at rest for null. */
export function createLibrary(
  host: HTMLElement,
  context: Context,
  openFiles: () => void,
  openClip: (character: string, clip: string | null) => void,
): Library {
  const { store, connection, notices } = context;
  const chosenLabels = new Set<string>();
  const search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search the library" });
  const characters = rowList("Characters");
  const clips = rowList("Clips");
  const takes = rowList("Takes");
  const labels = h("div", { class: "wrap library-labels", role: "group", "aria-label": "Labels" });
  const clipCount = h("span", { class: "muted count" });
  const characterCount = h("span", { class: "muted count" });
  const takeSection = h("section", { class: "library-takes" }, h("h2", {}, "Takes"), takes.element);
  host.append(
    h(
      "div",
      { class: "library-head" },
      h("span", { class: "search" }, icon(SEARCH), search),
      h("button", { type: "button", class: "small", onclick: openFiles, title: "Open files (Ctrl+O)" }, "Open"),
    ),
    h("section", { class: "library-characters" }, h("h2", {}, "Characters", characterCount), characters.element),
    h("section", { class: "library-clips" }, h("h2", {}, "Clips", clipCount), labels, clips.element),
    takeSection,
  );

  const request = (message: Parameters<typeof connection.request>[0]) =>
    void connection.request(message).catch(notices.showError);

  async function rename(what: "character" | "clip" | "take", target: string, name: string): Promise<void> {
    const answer = await askFor(`Rename this ${what}`, name);
    if (answer && answer !== name) request({ kind: "rename", what, target, name: answer });
  }

  function characterRow(entry: CharacterEntry, document: Document): Row {
    const open = () => openClip(entry.id, entry.clips[0]?.name ?? null);
    return {
      id: entry.id,
      current: entry.id === document.stage.character,
      title: `${entry.name} (${entry.file})`,
      content: [
        h("span", { class: "item-name nowrap" }, entry.name),
        h("span", { class: "item-about" }, entry.clips.length === 1 ? "1 clip" : `${entry.clips.length} clips`),
      ],
      open: () => entry.id !== document.stage.character && open(),
      rename: () => void rename("character", entry.id, entry.name),
      remove: () => request({ kind: "close", character: entry.id }),
      menu: (at) =>
        showMenu(
          at,
          [
            { title: "Show on stage", run: open },
            { title: "Rename…", about: "F2", run: () => void rename("character", entry.id, entry.name) },
            ...exportItems(context, "character", entry.id),
            { title: "Close", about: "Del", run: () => request({ kind: "close", character: entry.id }) },
          ],
          entry.name,
        ),
    };
  }

  function clipRow(clip: ClipEntry, document: Document): Row {
    const character = document.stage.character;
    const target = `${character}/${clip.name}`;
    const open = () => openClip(character, clip.name);
    const dots = clip.labels
      .slice(0, 3)
      .map((label) => h("span", { class: "dot", style: `--hue: ${labelColour(label)}` }));
    return {
      id: clip.name,
      current: clip.name === (document.stage.driver === "clip" ? document.stage.drives : store.edit()?.clip),
      title: [titleOf(clip), clip.labels.join(", "), clip.about].filter(Boolean).join(" · "),
      content: [
        h("span", { class: "dots" }, ...dots, h("span", { class: "unseen" }, clip.labels.join(", "))),
        h("span", { class: "item-name nowrap" }, titleOf(clip)),
        h("span", { class: "item-about" }, duration(clip.seconds)),
      ],
      open,
      rename: () => void rename("clip", target, titleOf(clip)),
      remove: () => request({ kind: "delete", what: "clip", target }),
      menu: (at) =>
        showMenu(
          at,
          [
            { title: "Play", run: open },
            { title: "Rename…", about: "F2", run: () => void rename("clip", target, titleOf(clip)) },
            { title: "Labels…", run: () => void relabel(clip, character) },
            ...exportItems(context, "clip", target),
            { title: "Remove", about: "Del", run: () => request({ kind: "delete", what: "clip", target }) },
          ],
          titleOf(clip),
        ),
    };
  }

  async function relabel(clip: ClipEntry, character: string): Promise<void> {
    const answer = await askFor("Labels of this clip, separated by commas", clip.labels.join(", "));
    if (answer === null) return;
    const names = [
      ...new Set(
        answer
          .split(",")
          .map((name) => name.trim())
          .filter(Boolean),
      ),
    ];
    request({ kind: "label", character, clip: clip.name, labels: names });
  }

  function takeRow(take: TakeEntry, document: Document): Row {
    const open = () => request({ kind: "show", character: take.character, take: take.id });
    return {
      id: take.id,
      current: document.stage.driver === "take" && document.stage.drives === take.id,
      content: [
        h("span", { class: "item-name nowrap" }, take.name),
        h("span", { class: "item-about" }, duration(take.seconds)),
      ],
      open,
      rename: () => void rename("take", take.id, take.name),
      remove: () => request({ kind: "delete", what: "take", target: take.id }),
      menu: (at) =>
        showMenu(
          at,
          [
            { title: "Show on stage", run: open },
            { title: "Rename…", about: "F2", run: () => void rename("take", take.id, take.name) },
            ...exportItems(context, "take", take.id),
            { title: "Delete", about: "Del", run: () => request({ kind: "delete", what: "take", target: take.id }) },
          ],
          take.name,
        ),
    };
  }

  function emptyHint(): HTMLElement {
    return h(
      "li",
      { class: "empty" },
      h("strong", {}, "Nothing is open yet"),
      "Drop a glTF, BVH or USD here, or press Open.",
    );
  }

  let drawn = "";
  host.classList.add("waiting"); // hidden until the document arrives, so that growing lists do not shift each other

  function draw(): void {
    const document = store.document;
    if (!document) return;
    // Scrubbing changes the document at the pointer's rate, but nothing that is listed here.
    const { character, driver, drives } = document.stage;
    const content = JSON.stringify([
      document.characters,
      document.takes,
      character,
      driver,
      drives,
      search.value,
      [...chosenLabels],
    ]);
    if (content === drawn) return;
    drawn = content;
    host.classList.remove("waiting");
    const known = labelsOf(store.character()?.clips ?? []);
    for (const label of chosenLabels) if (!known.includes(label)) chosenLabels.delete(label);
    const rows = libraryRows(document, search.value, chosenLabels);
    const total = store.character()?.clips.length ?? 0;
    const filtered = search.value.trim() !== "" || chosenLabels.size > 0;
    characterCount.textContent = document.characters.length ? String(document.characters.length) : "";
    clipCount.textContent = !total ? "" : filtered ? `${rows.clips.length} of ${total}` : String(total);
    characters.draw(
      rows.characters.map((entry) => characterRow(entry, document)),
      emptyHint(),
    );
    const none = !store.character()
      ? "A character's clips are listed here."
      : total
        ? "No clip matches. Clear the search, or choose fewer labels."
        : "This character has no clips. Drop a BVH or another glTF with motion for the same joints.";
    clips.draw(
      rows.clips.map((clip) => clipRow(clip, document)),
      h("li", { class: "empty" }, none),
    );
    takes.draw(rows.takes.map((take) => takeRow(take, document)));
    takeSection.classList.toggle("hidden", rows.takes.length === 0);
    const focus = [...labels.children].indexOf(window.document.activeElement as Element);
    replace(labels, ...rows.labels.map((label) => labelChip(label, () => toggleLabel(label), chosenLabels.has(label))));
    labels.classList.toggle("hidden", rows.labels.length === 0);
    (labels.children[focus] as HTMLElement | undefined)?.focus();
  }

  function toggleLabel(label: string): void {
    if (!chosenLabels.delete(label)) chosenLabels.add(label);
    draw();
  }

  search.addEventListener("input", draw);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    search.value = "";
    search.blur();
    draw();
  });
  store.onDocument(draw);
  return { focusSearch: () => search.focus() };
}
