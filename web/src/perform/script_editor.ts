/** The script editor: mistakes are sentences at their line, and what is written is seen on stage at once. */
import type { Context } from "../context";
import { h, replace } from "../dom";
import type { ScriptEntry } from "../protocol/messages";
import { askFor } from "../shell/prompt";
import type { Performing } from "./performance_store";
import { linesOfStep, starter, stepOf } from "./script_text";

const PAUSE = 450; // ms without a key before a text is checked
const LINE = 18; // px
const TOP = 6;

export function scriptPanel({ connection, store, notices }: Context, performing: Performing): HTMLElement {
  const text = h("textarea", {
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    wrap: "off",
    "aria-label": "Script",
    "aria-describedby": "script-verdict",
  });
  const gutter = h("div", { class: "gutter", "aria-hidden": "true" });
  const [now, wrong] = [h("div", { class: "line now hidden" }), h("div", { class: "line wrong hidden" })];
  const verdict = h("p", { class: "verdict", id: "script-verdict", role: "status" });
  const preview = h("input", { type: "checkbox", checked: true });
  const run = h("button", { type: "button", class: "primary", onclick: () => void start() }, "Run");
  const stop = h(
    "button",
    {
      type: "button",
      disabled: true,
      onclick: () => void connection.request({ kind: "stopScript" }).catch(notices.failed),
    },
    "Stop",
  );
  const keep = h("button", { type: "button", onclick: () => void save() }, "Keep");
  const chosen = h("select", { "aria-label": "Kept scripts", onchange: () => choose(chosen.value) });
  const editor = h("div", { class: "script-editor" }, now, wrong, gutter, text);
  const panel = h(
    "details",
    { class: "section" },
    h("summary", {}, "Script", h("span", { class: "aside" }, "what it does, and when")),
    h("div", { class: "row" }, chosen, keep),
    editor,
    h(
      "div",
      { class: "spread" },
      run,
      stop,
      h("label", { class: "check", title: "Perform it anew after each change" }, preview, "live preview"),
    ),
    verdict,
  );
  let lines: number[] = [];
  let bad = 0; // the line of the mistake, 0 where there is none
  let valid = false;
  let step = "";
  let timer = 0;
  let asked = 0;
  let touched = false;

  const count = (): number => text.value.split("\n").length;

  async function check(then: boolean): Promise<boolean> {
    const model = performing.model();
    if (!model) return false;
    const mine = ++asked;
    try {
      const found = await connection.request({ kind: "checkScript", model: model.id, text: text.value });
      if (mine !== asked) return false;
      [lines, bad, valid] = [found.lines, found.line, !found.sentence];
      verdict.textContent = found.sentence || `${found.steps} ${found.steps === 1 ? "step" : "steps"}; nothing wrong.`;
      verdict.classList.toggle("wrong", !valid);
      text.setAttribute("aria-invalid", String(!valid));
      draw();
      if (valid && then) await start();
    } catch (reason) {
      notices.failed(reason);
    }
    return valid;
  }

  async function start(): Promise<void> {
    clearTimeout(timer);
    const name = store.document?.scripts.find((each) => each.id === chosen.value)?.name ?? "script";
    try {
      await connection.request({ kind: "runScript", text: text.value, name });
    } catch (reason) {
      if (valid) notices.failed(reason);
      else void check(false);
    }
  }

  async function save(): Promise<void> {
    const entry = store.document?.scripts.find((each) => each.id === chosen.value);
    const name = entry?.name ?? (await askFor("What is this script called?", "scene"));
    if (!name) return;
    try {
      const kept = await connection.request({
        kind: "keepScript",
        name,
        text: text.value,
        model: performing.model()?.id ?? "",
        script: entry?.id ?? null,
      });
      list(kept.script);
      notices.show("info", `${name} is kept.`);
    } catch (reason) {
      notices.failed(reason);
    }
  }

  function choose(id: string): void {
    const entry = store.document?.scripts.find((each) => each.id === id);
    const model = performing.model();
    text.value = entry?.text ?? (model ? starter(model.labels, model.clips) : "");
    touched = Boolean(entry);
    void check(false);
  }

  function list(selected: string = chosen.value): void {
    const scripts: ScriptEntry[] = store.document?.scripts ?? [];
    replace(
      chosen,
      h("option", { value: "" }, "new script"),
      ...scripts.map((entry) => h("option", { value: entry.id }, entry.name)),
    );
    chosen.value = scripts.some((entry) => entry.id === selected) ? selected : "";
  }

  function draw(): void {
    const total = count();
    gutter.replaceChildren(
      ...Array.from({ length: total }, (_, i) => h(i + 1 === bad ? "b" : "span", {}, `${i + 1}\n`)),
    );
    gutter.scrollTop = text.scrollTop;
    const number = stepOf(step);
    place(now, number ? linesOfStep(lines, number, total) : null);
    place(wrong, bad ? { first: bad, last: bad } : null);
  }

  /** Brings the step that runs into view, unless somebody writes. */
  function follow(): void {
    const at = linesOfStep(lines, stepOf(step), count());
    if (!at || document.activeElement === text) return;
    const [top, bottom] = [(at.first - 1) * LINE, at.last * LINE + 2 * TOP];
    if (top < text.scrollTop || bottom > text.scrollTop + text.clientHeight) text.scrollTop = Math.max(0, top - LINE);
  }

  function place(mark: HTMLElement, at: { first: number; last: number } | null): void {
    mark.classList.toggle("hidden", !at);
    if (!at) return;
    mark.style.top = `${TOP + (at.first - 1) * LINE - text.scrollTop}px`;
    mark.style.height = `${(at.last - at.first + 1) * LINE}px`;
  }

  text.addEventListener("input", () => {
    touched = true;
    draw();
    clearTimeout(timer);
    timer = window.setTimeout(() => void check(preview.checked), PAUSE);
  });
  text.addEventListener("scroll", draw);
  text.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void start();
  });
  performing.on((event) => {
    if (event.step === step) return;
    step = event.step;
    stop.toggleAttribute("disabled", !step);
    follow();
    draw();
  });
  store.onDocument(() => list());
  performing.onModel((model) => {
    panel.classList.toggle("hidden", !model);
    if (!model) return;
    if (!touched) text.value = starter(model.labels, model.clips);
    void check(false);
  });
  panel.addEventListener("toggle", draw);
  return panel;
}
