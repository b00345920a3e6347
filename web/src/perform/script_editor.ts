/** The script editor: errors are shown at their lines, and changes are previewed on stage. */
import type { Context } from "../context";
import { h, replace } from "../dom";
import type { ScriptEntry } from "../protocol/messages";
import { askFor } from "../shell/prompt";
import type { PerformanceStore } from "./performance_store";
import { linesOfStep, starterScript } from "./script_text";

const CHECK_DELAY_MS = 450; // after the last key, before the text is checked
const LINE_HEIGHT_PX = 18;
const PADDING_PX = 6;

export function scriptPanel({ connection, store, notices }: Context, performanceStore: PerformanceStore): HTMLElement {
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
      onclick: () => void connection.request({ kind: "stopScript" }).catch(notices.showError),
    },
    "Stop",
  );
  const keepButton = h("button", { type: "button", onclick: () => void save() }, "Keep");
  const scriptSelect = h("select", { "aria-label": "Kept scripts", onchange: () => choose(scriptSelect.value) });
  const editor = h("div", { class: "script-editor" }, now, wrong, gutter, text);
  const panel = h(
    "details",
    { class: "section" },
    h("summary", {}, "Script", h("span", { class: "aside" }, "what it does, and when")),
    h("div", { class: "row" }, scriptSelect, keepButton),
    editor,
    h(
      "div",
      { class: "spread" },
      run,
      stop,
      h("label", { class: "check", title: "Run it again after each change" }, preview, "live preview"),
    ),
    verdict,
  );
  let lines: number[] = [];
  let errorLine = 0; // 0 without an error
  let valid = false;
  let step = "";
  let stepNumber = 0; // counted from 1; 0 if no step of the script itself runs
  let timer = 0;
  let checkCount = 0;
  let isEdited = false;

  const count = (): number => text.value.split("\n").length;

  async function check(then: boolean): Promise<boolean> {
    const model = performanceStore.model();
    if (!model) return false;
    const checkNumber = ++checkCount;
    try {
      const answer = await connection.request({ kind: "checkScript", model: model.id, text: text.value });
      if (checkNumber !== checkCount) return false;
      [lines, errorLine, valid] = [answer.lines, answer.line, !answer.sentence];
      verdict.textContent =
        answer.sentence || `${answer.steps} ${answer.steps === 1 ? "step" : "steps"}; nothing wrong.`;
      verdict.classList.toggle("wrong", !valid);
      text.setAttribute("aria-invalid", String(!valid));
      draw();
      if (valid && then) await start();
    } catch (reason) {
      notices.showError(reason);
    }
    return valid;
  }

  async function start(): Promise<void> {
    clearTimeout(timer);
    const name = store.document?.scripts.find((script) => script.id === scriptSelect.value)?.name ?? "script";
    try {
      await connection.request({ kind: "runScript", text: text.value, name });
    } catch (reason) {
      if (valid) notices.showError(reason);
      else void check(false);
    }
  }

  async function save(): Promise<void> {
    const entry = store.document?.scripts.find((script) => script.id === scriptSelect.value);
    const name = entry?.name ?? (await askFor("What is this script called?", "scene"));
    if (!name) return;
    try {
      const kept = await connection.request({
        kind: "keepScript",
        name,
        text: text.value,
        model: performanceStore.model()?.id ?? "",
        script: entry?.id ?? null,
      });
      listScripts(kept.script);
      notices.show("info", `${name} is kept.`);
    } catch (reason) {
      notices.showError(reason);
    }
  }

  function choose(id: string): void {
    const entry = store.document?.scripts.find((script) => script.id === id);
    const model = performanceStore.model();
    text.value = entry?.text ?? (model ? starterScript(model.labels, model.clips) : "");
    isEdited = Boolean(entry);
    void check(false);
  }

  function listScripts(selected: string = scriptSelect.value): void {
    const scripts: ScriptEntry[] = store.document?.scripts ?? [];
    replace(
      scriptSelect,
      h("option", { value: "" }, "new script"),
      ...scripts.map((entry) => h("option", { value: entry.id }, entry.name)),
    );
    scriptSelect.value = scripts.some((entry) => entry.id === selected) ? selected : "";
  }

  function draw(): void {
    const total = count();
    gutter.replaceChildren(
      ...Array.from({ length: total }, (_, i) => h(i + 1 === errorLine ? "b" : "span", {}, `${i + 1}\n`)),
    );
    gutter.scrollTop = text.scrollTop;
    placeMark(now, linesOfStep(lines, stepNumber, total));
    placeMark(wrong, errorLine ? { first: errorLine, last: errorLine } : null);
  }

  /** Scrolls to the running step, unless the editor has the focus. */
  function scrollToStep(): void {
    const at = linesOfStep(lines, stepNumber, count());
    if (!at || document.activeElement === text) return;
    const [top, bottom] = [(at.first - 1) * LINE_HEIGHT_PX, at.last * LINE_HEIGHT_PX + 2 * PADDING_PX];
    if (top < text.scrollTop || bottom > text.scrollTop + text.clientHeight)
      text.scrollTop = Math.max(0, top - LINE_HEIGHT_PX);
  }

  function placeMark(mark: HTMLElement, at: { first: number; last: number } | null): void {
    mark.classList.toggle("hidden", !at);
    if (!at) return;
    mark.style.top = `${PADDING_PX + (at.first - 1) * LINE_HEIGHT_PX - text.scrollTop}px`;
    mark.style.height = `${(at.last - at.first + 1) * LINE_HEIGHT_PX}px`;
  }

  text.addEventListener("input", () => {
    isEdited = true;
    draw();
    clearTimeout(timer);
    timer = window.setTimeout(() => void check(preview.checked), CHECK_DELAY_MS);
  });
  text.addEventListener("scroll", draw);
  text.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void start();
  });
  performanceStore.on((event) => {
    if (event.step === step) return;
    [step, stepNumber] = [event.step, event.stepNumber];
    stop.toggleAttribute("disabled", !step);
    scrollToStep();
    draw();
  });
  store.onDocument(() => listScripts());
  performanceStore.onModel((model) => {
    panel.classList.toggle("hidden", !model);
    if (!model) return;
    if (!isEdited) text.value = starterScript(model.labels, model.clips);
    void check(false);
  });
  panel.addEventListener("toggle", draw);
  return panel;
}
