/** Opening files: dropped anywhere on the page, or chosen. What came is listed with what became of it. */
import type { Context } from "../context";
import { h, icon, replace } from "../dom";
import { fileSize } from "./time";
import { type Arrival, type FileState, sendFiles } from "./upload";

const SIGNS: Record<FileState, string> = {
  waiting: "M4 8h8",
  sending: "M8 13V4M4 7.5L8 3.5L12 7.5",
  opened: "M3.5 8.5l3 3l6-7",
  kept: "M3.5 8.5l3 3l6-7",
  failed: "M4.5 4.5l7 7M11.5 4.5l-7 7",
};
const WORDS: Record<FileState, string> = {
  waiting: "waits",
  sending: "reading",
  opened: "opened",
  kept: "goes with the others",
  failed: "not opened",
};

export interface Dropping {
  /** Lets the user choose files. */
  choose(): void;
}

export function createDropping(host: HTMLElement, context: Context): Dropping {
  const target = h(
    "div",
    { class: "drop-target hidden" },
    h(
      "div",
      { class: "drop-card" },
      h("h2", {}, "Drop to open"),
      h("p", { class: "muted" }, "glTF, BVH, USD, C3D, CSV; several at once, with their .bin and pictures"),
    ),
  );
  const list = h("ul", { class: "arrivals", "aria-label": "Files that came" });
  const head = h("strong", {});
  const card = h(
    "section",
    { class: "arrivals-card hidden", "aria-label": "Files that came", role: "status" },
    h(
      "div",
      { class: "job-head" },
      head,
      h(
        "button",
        {
          type: "button",
          class: "quiet small square",
          "aria-label": "Close this list",
          onclick: () => card.classList.add("hidden"),
        },
        icon("M4 4l8 8M12 4l-8 8"),
      ),
    ),
    list,
  );
  document.body.append(target);
  host.prepend(card);
  const input = h("input", { type: "file", multiple: true, class: "unseen", tabindex: -1, "aria-label": "Open files" });
  document.body.append(input);
  let depth = 0; // dragenter and dragleave come for each element that is crossed

  function draw(arrivals: readonly Arrival[]): void {
    card.classList.remove("hidden");
    const opened = arrivals.filter((each) => each.state === "opened").length;
    const busy = arrivals.some((each) => each.state === "sending" || each.state === "waiting");
    head.textContent = busy
      ? `Opening ${arrivals.length === 1 ? "a file" : `${arrivals.length} files`}…`
      : `${opened} of ${arrivals.length} opened`;
    replace(
      list,
      ...arrivals.map((arrival) =>
        h(
          "li",
          { class: arrival.state },
          icon(SIGNS[arrival.state]),
          h(
            "div",
            {},
            h("span", { class: "arrival-name" }, arrival.name),
            h("span", { class: "muted" }, ` ${fileSize(arrival.size)}, ${WORDS[arrival.state]}`),
            arrival.sentence
              ? h("p", { class: arrival.state === "failed" ? "wrong" : "muted" }, arrival.sentence)
              : null,
          ),
        ),
      ),
    );
    if (!busy && arrivals.every((each) => each.state !== "failed" && !each.sentence))
      setTimeout(() => card.classList.add("hidden"), 4000);
  }

  async function take(files: readonly File[]): Promise<void> {
    if (!files.length) return;
    try {
      await sendFiles(files, context, draw);
    } catch (reason) {
      context.notices.failed(reason);
    }
  }

  const brings = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const hide = () => {
    depth = 0;
    target.classList.add("hidden");
  };
  window.addEventListener("dragenter", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    depth += 1;
    target.classList.remove("hidden");
  });
  window.addEventListener("dragover", (event) => brings(event) && event.preventDefault());
  window.addEventListener("dragleave", (event) => {
    if (brings(event) && --depth <= 0) hide();
  });
  window.addEventListener("drop", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    hide();
    void take([...(event.dataTransfer?.files ?? [])]);
  });
  input.addEventListener("change", () => {
    void take([...(input.files ?? [])]);
    input.value = "";
  });
  return { choose: () => input.click() };
}
