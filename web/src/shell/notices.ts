/** Notices: what happened in one sentence, and what to do next. They lie over the viewport and shift nothing. */
import { h, icon } from "../dom";
import { RequestError } from "../protocol/connection";

export type Level = "info" | "warning" | "error";

export interface Notices {
  /** Shows a sentence; errors stay until closed, others disappear by themselves. */
  show(level: Level, sentence: string, hint?: string): void;
  /** Shows why something failed; `reason` may be anything that was thrown. */
  showError(reason: unknown): void;
  /** Hides a sentence that is shown elsewhere, and ignores it if it arrives a moment later. */
  suppress(sentence: string): void;
}

const DURATION_MS = 6000; // long enough to read two sentences
const MAX_NOTICES = 4;
const NAMES: Record<Level, string> = { info: "Note", warning: "Warning", error: "Error" };
const ICONS: Record<Level, string> = {
  info: "M8 7v5M8 4v.5M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13",
  warning: "M8 2l6.5 11.5h-13zM8 6.5v3.5M8 12v.2",
  error: "M5.5 5.5l5 5M10.5 5.5l-5 5M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13",
};
const CROSS = "M4 4l8 8M12 4l-8 8";

/** The sentence and hint for something that was thrown. */
export function sentenceOf(reason: unknown): { sentence: string; hint: string } {
  if (reason instanceof RequestError) return { sentence: reason.sentence, hint: reason.hint };
  const text = reason instanceof Error ? reason.message : String(reason);
  return {
    sentence: `Something went wrong in the page: ${text}`,
    hint: "Reload the page; the project is kept by the server.",
  };
}

/** Adds a capital and a full stop, as messages are often parts of longer sentences. */
export function asSentence(said: string): string {
  const named = /^\S*[_.\d:]\S/.test(said); // names keep their spelling
  const whole = named ? said : said.charAt(0).toUpperCase() + said.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

export function createNotices(host: HTMLElement): Notices {
  const shown = new Map<string, { element: HTMLElement; count: number; badge: HTMLElement; timer: number }>();

  const suppressed = new Set<string>(); // sentences that are shown elsewhere

  function remove(key: string): void {
    const notice = shown.get(key);
    if (!notice) return;
    clearTimeout(notice.timer);
    notice.element.remove();
    shown.delete(key);
  }

  function show(level: Level, said: string, hint = ""): void {
    const sentence = asSentence(said);
    if (suppressed.has(said)) return;
    const key = `${level} ${sentence}`;
    const again = shown.get(key);
    const leave = () => (level === "error" ? 0 : window.setTimeout(() => remove(key), DURATION_MS));
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
      icon(ICONS[level]),
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
        { class: "quiet small square", type: "button", "aria-label": "Close this notice", onclick: () => remove(key) },
        icon(CROSS),
      ),
    );
    host.append(element);
    shown.set(key, { element, count: 1, badge, timer: leave() });
    while (shown.size > MAX_NOTICES) remove(shown.keys().next().value as string);
  }

  return {
    show,
    showError(reason) {
      const { sentence, hint } = sentenceOf(reason);
      show("error", sentence, hint);
    },
    suppress(sentence) {
      suppressed.add(sentence);
      window.setTimeout(() => suppressed.delete(sentence), DURATION_MS);
      for (const key of [...shown.keys()]) if (key.endsWith(` ${asSentence(sentence)}`)) remove(key);
    },
  };
}
