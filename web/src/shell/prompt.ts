/** A dialog with one question and a one-line answer. */
import { h } from "../dom";

/** Returns the answer; null if cancelled. */
export function askFor(question: string, answer: string): Promise<string | null> {
  const field = h("input", {
    type: "text",
    value: answer,
    "aria-label": question,
    maxlength: 200,
    spellcheck: "false",
  });
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", {}, question),
    field,
    h(
      "div",
      { class: "asking-buttons" },
      h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"),
      h("button", { type: "submit", class: "primary", value: "yes" }, "Save"),
    ),
  );
  const dialog = h("dialog", { class: "asking", "aria-label": question }, form);
  document.body.append(dialog);
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.showModal();
  field.select();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? field.value.trim() : null);
    });
  });
}
