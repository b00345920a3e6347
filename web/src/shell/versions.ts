/** The dialog with the earlier versions of the project: when each was saved, what it holds, and the way back to it. */
import { h } from "../dom";
import type { Connection } from "../protocol/connection";
import type { VersionEntry } from "../protocol/messages";
import type { Notices } from "./notices";

const CONTENT = ["characters", "models", "takes", "edits"] as const;

/** The content of a version in words: `2 characters, 1 take`. */
export function describeVersion(version: VersionEntry): string {
  const parts = CONTENT.filter((kind) => version[kind] > 0).map((kind) =>
    version[kind] === 1 ? `1 ${kind.slice(0, -1)}` : `${version[kind]} ${kind}`,
  );
  return parts.join(", ") || "empty";
}

export async function showVersions(connection: Connection, notices: Notices): Promise<void> {
  const { versions } = await connection.request({ kind: "versions" });
  const open = (version: VersionEntry): void => {
    dialog.close();
    connection
      .request({ kind: "openVersion", version: version.name })
      .then(() => notices.show("info", `The version of ${version.time} is open.`, "Undo returns to the present one."))
      .catch(notices.showError);
  };
  const rows = versions.map((version) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "quiet", onclick: () => open(version) },
        h("span", {}, version.time),
        h("span", { class: "muted" }, describeVersion(version)),
      ),
    ),
  );
  const dialog = h(
    "dialog",
    { class: "asking versions", "aria-label": "Versions of the project" },
    h("h2", {}, "Go back to an earlier version"),
    rows.length ? h("ul", {}, ...rows) : h("p", { class: "muted" }, "None yet; one is kept every two minutes."),
    h(
      "div",
      { class: "asking-buttons" },
      h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"),
    ),
  );
  document.body.append(dialog);
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}
