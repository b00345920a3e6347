/** The palette (Ctrl+K): all commands by name, with their keys. */
import { h, replace } from "../dom";
import type { Command } from "../modes/mode";
import { rank } from "./fuzzy_match";
import { type Keymap, keyCaps } from "./keymap";

const MAX_ROWS = 60; // a longer query finds the others

export interface Palette {
  open(): void;
}

export function createPalette(keymap: Keymap): Palette {
  const field = h("input", {
    type: "text",
    class: "palette-field",
    role: "combobox",
    placeholder: "Find a command, a clip, a character…",
    "aria-label": "Find a command",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = h("ul", { class: "palette-list", id: "palette-list", role: "listbox", "aria-label": "Commands" });
  const dialog = h("dialog", { class: "palette", "aria-label": "Commands" }, field, list);
  document.body.append(dialog);
  let shown: Command[] = [];
  let current = 0;

  function keys(command: Command): HTMLElement | null {
    const [first] = keymap.keys(command);
    return first ? h("span", { class: "palette-keys" }, ...keyCaps(first).map((part) => h("kbd", {}, part))) : null;
  }

  function highlightMatch(title: string, places: number[]): HTMLElement {
    const span = h("span", { class: "nowrap" });
    const at = new Set(places);
    let run = "";
    Array.from({ length: title.length + 1 }, (_, index) => index).forEach((index) => {
      if (index === title.length || (index > 0 && at.has(index) !== at.has(index - 1))) {
        span.append(at.has(index - 1) ? h("mark", {}, run) : run);
        run = "";
      }
      run += title[index] ?? "";
    });
    return span;
  }

  function draw(): void {
    const matches = rank(field.value, keymap.commands(), (command) => command.title);
    shown = matches.slice(0, MAX_ROWS).map((ranked) => ranked.item);
    current = 0;
    replace(
      list,
      ...matches.slice(0, MAX_ROWS).map(({ item, match }, index) => {
        const off = item.enabled !== undefined && !item.enabled();
        return h(
          "li",
          {
            role: "option",
            id: `palette-${index}`,
            "aria-disabled": off ? "true" : null,
            onclick: () => choose(index),
            onpointermove: () => setCurrent(index),
          },
          highlightMatch(item.title, match.places),
          keys(item),
        );
      }),
      shown.length ? null : h("li", { class: "empty" }, "No command has that name. Fewer letters find more."),
    );
    setCurrent(0);
  }

  function setCurrent(index: number): void {
    list.children[current]?.removeAttribute("aria-selected");
    current = index;
    const row = list.children[current];
    if (!shown.length) {
      field.removeAttribute("aria-activedescendant");
      return;
    }
    row.setAttribute("aria-selected", "true");
    row.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", row.id);
  }

  function choose(index: number): void {
    const command = shown[index];
    if (!command || (command.enabled && !command.enabled())) return;
    close();
    keymap.run(command);
  }

  function close(): void {
    field.blur(); // a hidden field would receive the next key
    dialog.close();
  }

  field.addEventListener("input", draw);
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + 8, PageUp: current - 8 }[event.key];
    if (event.key === "Enter") choose(current);
    else if (to !== undefined && shown.length)
      setCurrent((Math.max(-1, Math.min(shown.length, to)) + shown.length) % shown.length);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) close();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && close());
  dialog.addEventListener("cancel", () => field.blur());

  return {
    open() {
      if (dialog.open) return;
      field.value = "";
      dialog.showModal();
      draw();
      field.focus();
    },
  };
}
