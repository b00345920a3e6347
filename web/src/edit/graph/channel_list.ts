/** The channel list at the left of keys and graph: one row per channel, with letters that show and hide its columns. */
import { h, replace } from "../../dom";
import { channelName } from "./curves";
import { ROW_PX } from "./dope";
import type { Rows } from "./dope_surface";
import { columnColour } from "./lanes";
import type { Model } from "./model";

export interface ChannelList extends Rows {
  element: HTMLElement;
  /** Scrolls to a channel's row. */
  reveal(channel: number): void;
  onScroll(listener: () => void): void;
}

const MAX_LETTERS = 4; // columns with letters; channels with more show their number

/** The channels that match a search: every word occurs in the name. */
export function filterChannels(names: readonly string[], text: string): number[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return names.flatMap((name, index) => (words.every((word) => name.toLowerCase().includes(word)) ? [index] : []));
}

/** The channels that a click chooses: with Ctrl toggled, with Shift a range. */
export function channelsAfterClick(
  chosen: readonly number[],
  rows: readonly number[],
  clicked: number,
  last: number,
  event: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean },
): number[] {
  if (event.shiftKey && rows.includes(last)) {
    const [a, b] = [rows.indexOf(last), rows.indexOf(clicked)].sort((x, y) => x - y);
    return [...new Set([...chosen, ...rows.slice(a, b + 1)])];
  }
  if (!(event.ctrlKey || event.metaKey)) return [clicked];
  return chosen.includes(clicked) ? chosen.filter((channel) => channel !== clicked) : [...chosen, clicked];
}

/** `choose` is called with the channels that a click chooses. */
export function createChannelList(model: Model, choose: (channels: number[]) => void): ChannelList {
  const search = h("input", {
    type: "search",
    placeholder: "Find a channel",
    "aria-label": "Find a channel",
    spellcheck: false,
  });
  const all = h("button", { type: "button", class: "quiet graph-all", title: "Choose all channels" }, "All keys");
  const body = h("div", {
    class: "graph-rows",
    role: "listbox",
    "aria-label": "Channels",
    "aria-multiselectable": "true",
    tabindex: 0,
  });
  const element = h("div", { class: "graph-list" }, search, all, body);
  const listeners: (() => void)[] = [];
  const elements = new Map<number, HTMLElement>();
  let rows: number[] = [];
  let last = -1;
  let builtKey = "";

  function letters(channel: number): HTMLElement | null {
    const { columns } = model.kept[channel];
    if (columns.length > MAX_LETTERS) return h("span", { class: "muted" }, columns.length);
    if (columns.length === 1) return h("span", { class: "graph-dot", style: `--hue: ${columnColour(columns[0], 0)}` });
    const letter = (name: string, column: number) =>
      h(
        "button",
        {
          type: "button",
          class: "graph-letter",
          style: `--hue: ${columnColour(name, column)}`,
          "aria-pressed": String(!model.isHidden(channel, column)),
          title: `Show or hide ${name}`,
          tabindex: -1,
          "data-column": column,
        },
        name.slice(0, 1),
      );
    return h("span", { class: "graph-letters" }, ...columns.map(letter));
  }

  function row(channel: number): HTMLElement {
    const { target, kind, columns } = model.kept[channel];
    const what = columns.length === 1 && kind !== "rotation" ? columns[0] : kind;
    return h(
      "div",
      {
        class: "graph-row",
        role: "option",
        style: `height: ${ROW_PX}px`,
        "data-channel": channel,
        title: `${target} ${what}`,
      },
      h("span", { class: "graph-name" }, target || what, target ? h("span", { class: "muted" }, ` ${what}`) : null),
      letters(channel),
    );
  }

  function build(): void {
    const names = model.kept.map((channel) => channelName(channel).replaceAll("\n", " "));
    const signature = `${search.value}\n${names.join("\n")}`;
    if (signature === builtKey) return;
    builtKey = signature;
    rows = filterChannels(names, search.value);
    elements.clear();
    for (const channel of rows) elements.set(channel, row(channel));
    replace(
      body,
      ...elements.values(),
      model.kept.length && !rows.length ? h("div", { class: "empty" }, "No channel has such a name.") : null,
    );
    for (const listener of listeners) listener();
  }

  function markChosen(): void {
    const chosen = new Set(model.chosen);
    for (const [channel, line] of elements) {
      line.setAttribute("aria-selected", String(chosen.has(channel)));
      for (const letter of line.querySelectorAll<HTMLElement>(".graph-letter"))
        letter.setAttribute("aria-pressed", String(!model.isHidden(channel, Number(letter.dataset.column))));
    }
  }

  function moveChoice(step: number): void {
    const at = Math.min(rows.length - 1, Math.max(0, rows.indexOf(last) + step));
    if (rows[at] === undefined) return;
    last = rows[at];
    choose([last]);
  }

  body.addEventListener("click", (event) => {
    const target = event.target as HTMLElement;
    const channel = Number(target.closest<HTMLElement>(".graph-row")?.dataset.channel ?? NaN);
    if (Number.isNaN(channel)) return;
    const letter = target.closest<HTMLElement>(".graph-letter");
    if (letter && model.chosen.includes(channel)) return model.toggle(channel, Number(letter.dataset.column));
    choose(channelsAfterClick(model.chosen, rows, channel, last, event));
    last = channel;
  });
  body.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    event.stopPropagation();
    moveChoice(event.key === "ArrowDown" ? 1 : -1);
  });
  body.addEventListener("scroll", () => {
    for (const listener of listeners) listener();
  });
  search.addEventListener("input", build);
  search.addEventListener("input", markChosen);
  all.addEventListener("click", () => choose([...rows]));
  model.onChange((what) => {
    if (what !== "channels") return;
    build();
    markChosen();
  });

  return {
    element,
    get rows() {
      return rows;
    },
    get scroll() {
      return body.scrollTop;
    },
    set scroll(next: number) {
      body.scrollTop = next;
    },
    reveal: (channel) => elements.get(channel)?.scrollIntoView({ block: "nearest" }),
    onScroll: (listener) => void listeners.push(listener),
  };
}
