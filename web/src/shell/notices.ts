/** Notices: what happened, in one sentence, and what to do next. They lie over the viewport and move nothing. */
import { h, icon } from "../dom";
import { Refused } from "../protocol/connection";

export type Level = "info" | "warning" | "error";

export interface Notices {
  /** Shows a sentence; errors stay until closed, others leave by themselves. */
  show(level: Level, sentence: string, hint?: string): void;
  /** Shows why something failed; anything thrown may be given. */
  failed(reason: unknown): void;
  /** A sentence is told elsewhere: it is taken back here, and not shown should it still be on its way. */
  toldElsewhere(sentence: string): void;
}

const STAY = 6000; // ms: long enough to read two sentences
const MOST = 4;
const NAMES: Record<Level, string> = { info: "Note", warning: "Warning", error: "Error" };
const SIGNS: Record<Level, string> = {
  info: "M8 7v5M8 4v.5M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13",
  warning: "M8 2l6.5 11.5h-13zM8 6.5v3.5M8 12v.2",
  error: "M5.5 5.5l5 5M10.5 5.5l-5 5M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13",
};
const CROSS = "M4 4l8 8M12 4l-8 8";

/** What to say of something that was thrown. */
export function sentenceOf(reason: unknown): { sentence: string; hint: string } {
  if (reason instanceof Refused) return { sentence: reason.sentence, hint: reason.hint };
  const text = reason instanceof Error ? reason.message : String(reason);
  return {
    sentence: `Something went wrong in the page: ${text}`,
    hint: "Reload the page; the project is kept by the server.",
  };
}

/** With a capital and a full stop: what went wrong is often told as part of a longer sentence. */
export function asSentence(said: string): string {
  const named = /^\S*[_.\d:]\S/.test(said); // a name is spelled as it is
  const whole = named ? said : said.charAt(0).toUpperCase() + said.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

export function createNotices(host: HTMLElement): Notices {
  const shown = new Map<string, { element: HTMLElement; count: number; badge: HTMLElement; timer: number }>();

  const told = new Set<string>(); // elsewhere, a moment ago

  function drop(key: string): void {
    const notice = shown.get(key);
    if (!notice) return;
    clearTimeout(notice.timer);
    notice.element.remove();
    shown.delete(key);
  }

  function show(level: Level, said: string, hint = ""): void {
    const sentence = asSentence(said);
    if (told.has(said)) return;
    const key = `${level} ${sentence}`;
    const again = shown.get(key);
    const leave = () => (level === "error" ? 0 : window.setTimeout(() => drop(key), STAY));
    if (again) {
      clearTimeout(again.timer);
      again.timer = leave();
      again.badge.textContent = `× ${++again.count}`;
      return;
    }
    const badge = h("span", { class: "muted" });
    const element = h(
      "div",
      { class: `notice ${level}`, role: level === "error" ? "alert" : "status" },
      icon(SIGNS[level]),
      h(
        "div",
        { class: "notice-text" },
        h("span", { class: "unseen" }, `${NAMES[level]}: `),
        h("p", {}, sentence),
        hint ? h("p", { class: "muted" }, asSentence(hint)) : null,
      ),
      badge,
      h(
        "button",
        { class: "quiet small square", type: "button", "aria-label": "Close this notice", onclick: () => drop(key) },
        icon(CROSS),
      ),
    );
    host.append(element);
    shown.set(key, { element, count: 1, badge, timer: leave() });
    while (shown.size > MOST) drop(shown.keys().next().value as string);
  }

  return {
    show,
    failed(reason) {
      const { sentence, hint } = sentenceOf(reason);
      show("error", sentence, hint);
    },
    toldElsewhere(sentence) {
      told.add(sentence);
      window.setTimeout(() => told.delete(sentence), STAY);
      for (const key of [...shown.keys()]) if (key.endsWith(` ${asSentence(sentence)}`)) drop(key);
    },
  };
}
