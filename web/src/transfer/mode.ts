/** The transfer mode: a clip of one character onto another; the bones it goes by can be corrected. */
import type { Context } from "../context";
import { h, replace } from "../dom";
import type { Mode } from "../modes/mode";
import type { BoneMatch, CharacterEntry, TransferOutcome } from "../protocol/messages";
import { exportAs } from "../shell/export_menu";
import { titleOf } from "../shell/library_rows";

function option(value: string, title: string): HTMLOptionElement {
  return h("option", { value }, title);
}

function field(title: string, control: HTMLElement): HTMLElement {
  return h("label", { class: "transfer-field" }, h("span", {}, title), control);
}

/** Fills a list, and keeps its choice where that is still in it. */
function fill(list: HTMLSelectElement, options: HTMLOptionElement[], preferred = ""): void {
  const wanted = options.some((each) => each.value === list.value) ? list.value : preferred;
  list.replaceChildren(...options);
  if (options.some((each) => each.value === wanted)) list.value = wanted;
}

export function transferMode(context: Context): Mode {
  const { connection, store, stage, notices } = context;
  const [from, clip, onto] = [h("select", {}), h("select", {}), h("select", {})];
  const size = h("input", { type: "number", min: "0.001", step: "0.01", placeholder: "by legs" });
  const physics = h("input", { type: "checkbox", checked: true });
  const springs = h("input", { type: "checkbox", checked: true });
  const start = h("button", { type: "button", class: "primary", onclick: () => void solve(true) }, "Put it on");
  const results = h("div", { class: "hidden" });
  let corrected: Record<string, string> = {};
  let outcome: TransferOutcome | null = null;
  let busy = false;

  const characters = (): readonly CharacterEntry[] => store.document?.characters ?? [];
  const movers = (): CharacterEntry[] => characters().filter((entry) => entry.clips.length > 0);
  const bodies = (): CharacterEntry[] => characters().filter((entry) => entry.id !== from.value && entry.joints > 0);

  function refresh(): void {
    const current = store.document?.stage.character ?? "";
    fill(
      from,
      movers().map((entry) => option(entry.id, entry.name)),
      current,
    );
    const clips = characters().find((entry) => entry.id === from.value)?.clips ?? [];
    fill(
      clip,
      clips.map((entry) => option(entry.name, titleOf(entry))),
      store.document?.stage.drives ?? "",
    );
    const members = (store.hello?.cast ?? []).filter((name) => !characters().some((entry) => entry.cast === name));
    fill(onto, [
      ...bodies().map((entry) => option(entry.id, entry.name)),
      ...members.map((name) => option(`cast:${name}`, `${name} (built in)`)),
    ]);
    start.disabled = busy || !from.value || !clip.value || !onto.value;
  }

  /** The id of the target; a member of the cast is opened first. */
  async function target(): Promise<string> {
    if (!onto.value.startsWith("cast:")) return onto.value;
    const opened = await connection.request({ kind: "open", path: onto.value.slice("cast:".length) });
    refresh();
    onto.value = opened.characters[0];
    return onto.value;
  }

  async function solve(anew: boolean): Promise<void> {
    if (busy) return;
    if (anew) corrected = {};
    busy = true;
    start.disabled = true;
    const [source, motion] = [from.value, clip.value]; // opening a target refreshes the lists
    try {
      outcome = await connection.request({
        kind: "transfer",
        source,
        clip: motion,
        target: await target(),
        bones: corrected,
        size: size.value ? Number(size.value) : null,
        physics: physics.checked,
        springs: springs.checked,
        replaces: anew ? null : (outcome?.take ?? null),
      });
      drawResults(outcome);
    } catch (reason) {
      notices.showError(reason);
    } finally {
      busy = false;
      from.value = source;
      refresh();
    }
  }

  function boneRow(match: BoneMatch): HTMLElement {
    const joints = h("select", { "aria-label": `Joint of the target for ${match.bone}` });
    fill(joints, [option("", "none"), ...stage.joints.map((joint) => option(joint, joint))], match.target);
    joints.addEventListener("change", () => {
      corrected = { ...corrected, [match.bone]: joints.value };
      void solve(false);
    });
    const found = match.target ? `${match.foundBy}, ${Math.round(100 * match.certainty)} % sure` : "no match";
    return h(
      "tr",
      { title: found },
      h("th", { scope: "row" }, match.bone),
      h("td", {}, match.source),
      h("td", {}, joints),
    );
  }

  function drawResults({ take, bones, contacts, size: ratio }: TransferOutcome): void {
    const show = (before: boolean) => () => {
      const request = before
        ? ({ kind: "show", character: from.value, clip: clip.value } as const)
        : ({ kind: "show", character: onto.value, take } as const);
      connection.request(request).catch(notices.showError);
    };
    const button = (title: string, onclick: () => void) =>
      h("button", { type: "button", class: "small", onclick }, title);
    const matched = bones.filter((match) => match.source && match.target).length;
    replace(
      results,
      h(
        "section",
        { class: "section" },
        h("h2", {}, "Result"),
        h(
          "p",
          { class: "muted", role: "status" },
          `${ratio === null ? "By its pose pairs" : `Size ${ratio.toFixed(2)}`}, ${contacts.length} contacts held.`,
        ),
        h(
          "div",
          { class: "wrap" },
          button("Show the source", show(true)),
          button("Show the result", show(false)),
          h(
            "button",
            { type: "button", class: "small primary", onclick: () => void exportAs(context, "take", take, "glb") },
            "Export glTF",
          ),
        ),
      ),
      bones.length > 0 &&
        h(
          "section",
          { class: "section" },
          h("h2", {}, "Bones", h("span", { class: "muted" }, ` ${matched} of ${bones.length} matched`)),
          h("table", { class: "transfer-bones" }, h("tbody", {}, ...bones.map(boneRow))),
        ),
    );
    results.classList.remove("hidden");
  }

  from.addEventListener("change", refresh);
  store.onDocument(refresh);
  return {
    id: "transfer",
    title: "Transfer",
    panel(host) {
      host.append(
        h(
          "section",
          { class: "section" },
          h("h2", {}, "From"),
          field("Character", from),
          field("Clip", clip),
          h("h2", {}, "Onto"),
          field("Character", onto),
          field("Size", size),
          h("label", { class: "crowd-check" }, physics, "Hold feet, and keep to gravity"),
          h("label", { class: "crowd-check" }, springs, "Let tails and ears swing"),
          start,
        ),
        results,
      );
      refresh();
    },
    enter: refresh,
    leave() {},
  };
}
