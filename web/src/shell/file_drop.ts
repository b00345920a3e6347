/** Opening files: dropped on the page or chosen. A list shows the state of each file. */
import type { Context } from "../context";
import { h, icon, replace } from "../dom";
import { fileSize } from "./time";
import { type Arrival, type FileState, sendFiles } from "./upload";

const STATE_ICONS: Record<FileState, string> = {
  waiting: "M4 8h8",
  sending: "M8 13V4M4 7.5L8 3.5L12 7.5",
  opened: "M3.5 8.5l3 3l6-7",
  kept: "M3.5 8.5l3 3l6-7",
  failed: "M4.5 4.5l7 7M11.5 4.5l-7 7",
};
const STATE_TEXTS: Record<FileState, string> = {
  waiting: "waits",
  sending: "reading",
  opened: "opened",
  kept: "sent with another file",
  failed: "not opened",
};

export interface FileDrop {
  /** Opens the file dialog. */
  choose(): void;
}

export function createFileDrop(host: HTMLElement, context: Context): FileDrop {
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
  let depth = 0; // dragenter and dragleave are sent for each element on the way

  function draw(arrivals: readonly Arrival[]): void {
    card.classList.remove("hidden");
    const opened = arrivals.filter((arrival) => arrival.state === "opened").length;
    const busy = arrivals.some((arrival) => arrival.state === "sending" || arrival.state === "waiting");
    head.textContent = busy
      ? `Opening ${arrivals.length === 1 ? "a file" : `${arrivals.length} files`}…`
      : `${opened} of ${arrivals.length} opened`;
    replace(
      list,
      ...arrivals.map((arrival) =>
        h(
          "li",
          { class: arrival.state },
          icon(STATE_ICONS[arrival.state]),
          h(
            "div",
            {},
            h("span", { class: "arrival-name" }, arrival.name),
            h("span", { class: "muted" }, ` ${fileSize(arrival.size)}, ${STATE_TEXTS[arrival.state]}`),
            arrival.sentence
              ? h("p", { class: arrival.state === "failed" ? "wrong" : "muted" }, arrival.sentence)
              : null,
          ),
        ),
      ),
    );
    if (!busy && arrivals.every((arrival) => arrival.state !== "failed" && !arrival.sentence))
      setTimeout(() => card.classList.add("hidden"), 4000);
  }

  async function openFiles(files: readonly File[]): Promise<void> {
    if (!files.length) return;
    try {
      await sendFiles(files, context, draw);
    } catch (reason) {
      context.notices.showError(reason);
    }
  }

  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const hide = () => {
    depth = 0;
    target.classList.add("hidden");
  };
  window.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth += 1;
    target.classList.remove("hidden");
  });
  window.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  window.addEventListener("dragleave", (event) => {
    if (hasFiles(event) && --depth <= 0) hide();
  });
  window.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    hide();
    void openFiles([...(event.dataTransfer?.files ?? [])]);
  });
  input.addEventListener("change", () => {
    void openFiles([...(input.files ?? [])]);
    input.value = "";
  });
  return { choose: () => input.click() };
}
