/** Takes: record the performance, scrub it on the timeline, export it. */
import type { Context } from "../context";
import { showMenu } from "../controls/menu";
import { h, icon, replace } from "../dom";
import { exportItems } from "../shell/export_menu";
import type { PerformanceStore } from "./performance_store";
import type { TakeEntry } from "./wire";

const DOTS = "M3 8h.01M8 8h.01M13 8h.01";

export function takesPanel(
  context: Context,
  performanceStore: PerformanceStore,
): { element: HTMLElement; toggle(): void } {
  const { connection, store, notices } = context;
  const record = h(
    "button",
    {
      type: "button",
      class: "record",
      "aria-pressed": "false",
      title: "Record what is shown (Shift R)",
      onclick: () => toggle(),
    },
    "Record",
  );
  const clock = h("span", { class: "muted", role: "status" });
  const live = h(
    "button",
    { type: "button", class: "quiet hidden", title: "Go back to the live performance" },
    "Back to live",
  );
  const list = h("div", { class: "list" });
  const element = h(
    "div",
    { class: "section" },
    h("h2", {}, "Takes", h("span", { class: "aside" }, live)),
    h("div", { class: "spread" }, record, clock),
    list,
  );
  let recording = false;
  let shownKey = "";

  async function keepTake(): Promise<void> {
    const { take } = await connection.request({ kind: "record", recording: false });
    const entry = store.document?.takes.find((candidate) => candidate.id === take);
    notices.show(
      "info",
      `${entry?.name ?? "The take"} is kept.`,
      "Choose it to scrub it on the timeline, or export it.",
    );
  }

  function toggle(): void {
    if (!performanceStore.model() && !recording) {
      notices.show(
        "warning",
        "No performance is running, so there is nothing to record.",
        "Learn a character, or choose a model.",
      );
      return;
    }
    const request = recording ? keepTake() : connection.request({ kind: "record", recording: true });
    request.catch(notices.showError);
  }

  function showTake(take: TakeEntry): void {
    connection.request({ kind: "show", character: take.character, take: take.id }).catch(notices.showError);
  }

  function showTakeMenu(take: TakeEntry, at: Element): void {
    const remove = {
      title: "Delete",
      run: () => void connection.request({ kind: "delete", what: "take", target: take.id }).catch(notices.showError),
    };
    showMenu(at, [...exportItems(context, "take", take.id), remove], take.name);
  }

  function build(): void {
    const document = store.document;
    const takes = document?.takes.filter((take) => take.character === document.stage.character) ?? [];
    const current = document?.stage.driver === "take" ? document.stage.drives : "";
    const model = takes.find((take) => take.id === current)?.model ?? "";
    const key = JSON.stringify([takes, current]);
    if (key === shownKey) return;
    shownKey = key;
    live.classList.toggle("hidden", !current || !document?.models.some((candidate) => candidate.id === model));
    live.onclick = () => void connection.request({ kind: "perform", model }).catch(notices.showError);
    const rows = takes.map((take) =>
      h(
        "div",
        { class: "row" },
        h(
          "button",
          {
            type: "button",
            class: "quiet small grow nowrap",
            "aria-pressed": String(take.id === current),
            onclick: () => showTake(take),
          },
          take.name,
        ),
        h("span", { class: "figure" }, `${take.seconds.toFixed(1)} s`),
        h(
          "button",
          {
            type: "button",
            class: "quiet small square",
            "aria-label": `Export or delete ${take.name}`,
            "aria-haspopup": "menu",
            onclick: (event: Event) => showTakeMenu(take, event.currentTarget as Element),
          },
          icon(DOTS),
        ),
      ),
    );
    replace(list, ...rows);
    element.classList.toggle("hidden", !performanceStore.model() && takes.length === 0);
    record.toggleAttribute("disabled", !performanceStore.model());
  }

  performanceStore.on((event) => {
    const on = event.recorded !== null;
    if (on !== recording) {
      recording = on;
      record.classList.toggle("on", on);
      record.setAttribute("aria-pressed", String(on));
      record.textContent = on ? "Stop and keep" : "Record";
    }
    clock.textContent = on ? `${(event.recorded ?? 0).toFixed(1)} s` : "";
  });
  store.onDocument(build);
  performanceStore.onModel(() => {
    shownKey = "";
    build();
  });
  return { element, toggle };
}
