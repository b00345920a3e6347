/** Learning: the labels of the clips, and the models learned from them. */
import type { Context } from "../context";
import { h, replace } from "../dom";
import { hueOf } from "./hues";
import type { PerformanceStore } from "./performance_store";
import { trainingLabels } from "./training_labels";
import type { JobEvent } from "./wire";

export function learnPanel(context: Context, performanceStore: PerformanceStore): HTMLElement {
  const { store, connection, notices } = context;
  const body = h("div", {});
  const panel = h(
    "details",
    { class: "section", open: true },
    h("summary", {}, "Model", h("span", { class: "aside" })),
    body,
  );
  const aside = panel.querySelector(".aside") as HTMLElement;
  const excludedLabels = new Set<string>(); // labels that are not learned
  let shown = "";
  let job: JobEvent | null = null;

  async function learn(): Promise<void> {
    const character = store.character();
    if (!character) return;
    const all = [...trainingLabels(character).keys()];
    const labels = all.filter((label) => !excludedLabels.has(label));
    try {
      await connection.request({
        kind: "learn",
        character: character.id,
        labels: labels.length === all.length ? [] : labels,
      });
    } catch (reason) {
      notices.showError(reason);
    }
  }

  function perform(model: string): void {
    connection.request({ kind: "perform", model }).catch(notices.showError);
  }

  function build(): void {
    const character = store.character();
    const models = performanceStore.models();
    const current = performanceStore.model();
    const key = JSON.stringify([
      character?.id,
      character?.clips.map((clip) => [clip.name, clip.labels]),
      models,
      current?.id,
      job?.state === "running",
    ]);
    if (key === shown) return;
    shown = key;
    aside.textContent = current ? current.name : models.length ? "choose one" : "none yet";
    if (!character) {
      replace(body, h("p", { class: "muted" }, "No character is on stage. Open one with clips, and learn it here."));
      return;
    }
    const labels = trainingLabels(character);
    const busy = job?.state === "running";
    const chips = [...labels].map(([label, of]) => {
      const press = (): void => {
        if (!excludedLabels.delete(label)) excludedLabels.add(label);
        chip.setAttribute("aria-pressed", String(!excludedLabels.has(label)));
        count();
      };
      const about = `${of.clips} ${of.clips === 1 ? "clip" : "clips"}, ${of.seconds.toFixed(1)} s`;
      const chip = h(
        "button",
        {
          class: "chip",
          type: "button",
          style: `--hue: ${hueOf(label)}`,
          "aria-pressed": String(!excludedLabels.has(label)),
          title: about,
          onclick: press,
        },
        label,
      );
      return chip;
    });
    const go = h("button", {
      type: "button",
      class: models.length ? "" : "primary",
      disabled: busy || !labels.size,
      onclick: () => void learn(),
    });
    const count = (): void => {
      const chosen = [...labels.keys()].filter((label) => !excludedLabels.has(label)).length;
      go.textContent = busy
        ? "Learning…"
        : models.length
          ? `Learn again (${chosen} labels)`
          : `Learn ${chosen} ${chosen === 1 ? "label" : "labels"}`;
      go.toggleAttribute("disabled", busy || chosen === 0);
    };
    count();
    replace(
      body,
      ...models.map((model) =>
        h(
          "div",
          { class: "row" },
          h(
            "button",
            {
              type: "button",
              class: "quiet grow nowrap",
              "aria-pressed": String(model.id === current?.id),
              title: `${model.labels.length} labels, ${model.frames} frames`,
              onclick: () => perform(model.id),
            },
            model.name,
          ),
          h("span", { class: "muted" }, `${model.labels.length} labels`),
        ),
      ),
      labels.size
        ? h(
            "p",
            { class: "muted" },
            models.length
              ? "Learn from other labels:"
              : `${character.name} can learn to act from its clips. These labels go in:`,
          )
        : h("p", { class: "muted" }, `${character.name} has no clips of two frames or more to learn from.`),
      labels.size ? h("div", { class: "wrap", style: "margin: 8px 0" }, ...chips) : null,
      labels.size ? go : null,
    );
  }

  connection.on("job", (event) => {
    if (event.task !== "learn") return;
    job = event.state === "running" ? event : null;
    build();
  });
  store.onDocument(build);
  performanceStore.onModel((model) => {
    if (model) panel.open = false;
    build();
  });
  build();
  return panel;
}
