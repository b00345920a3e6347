/** The dial that reduces a baked clip to few keys: its effect is previewed, and kept on request. */

import { numberField } from "../../controls/number";
import { RANGE_KEYS } from "../../controls/slider";
import { h } from "../../dom";
import type { EditReduced, EditReduceRequest, EditState } from "../../protocol/messages";
import { duration } from "../../shell/time";
import type { EditSession } from "../session";

/** Tolerances relative to the character's size: 0.1 mm to 85 mm for a person, 3 mm by default. */
const MIN_TOLERANCE = 6e-5;
const MAX_TOLERANCE = 0.05;
const DEFAULT_TOLERANCE = 0.002;
const DIAL_STEPS = 200;
const MAX_PREVIEW_SECONDS = 4; // seconds; longer reductions are previewed only when the dial is turned

type KeyMode = NonNullable<EditReduceRequest["keys"]>;

/** Where keys are, the default for editing first. */
const KEY_MODES: [KeyMode, string][] = [
  ["poses", "Poses: all channels at poses, at most 1 s apart"],
  ["fewest", "Fewest: each channel has its own"],
  ["shared", "Shared: all channels at the same times"],
];

/** The tolerance at a dial position (0 to 1), relative to the size: equal steps are equal factors. */
export const toleranceAt = (place: number) => MIN_TOLERANCE * (MAX_TOLERANCE / MIN_TOLERANCE) ** place;
export const dialPosition = (share: number) =>
  Math.min(1, Math.max(0, Math.log(share / MIN_TOLERANCE) / Math.log(MAX_TOLERANCE / MIN_TOLERANCE)));

/**
 * The tolerance of rotations in radians for a tolerance relative to the size: two degrees, and more for coarse ones, so
 * that rotations do not dominate.
 */
export const angleTolerance = (share: number) => (Math.PI / 90) * Math.sqrt(Math.max(1, share / DEFAULT_TOLERANCE));

/** A length with a suitable unit: "0.35 mm", "12 mm", "1.2 m". */
export function lengthText(metres: number): string {
  if (metres < 1e-3) return `${(metres * 1e3).toFixed(2)} mm`;
  if (metres < 1) return `${(metres * 1e3).toFixed(metres < 0.02 ? 1 : 0)} mm`;
  return `${metres.toFixed(2)} m`;
}

/** The result of a reduction, as three texts. */
export function resultText(result: EditReduced): { keys: string; error: string; time: string } {
  const fewer = result.keys > 0 ? result.sourceKeys / result.keys : 0;
  const times = fewer > 1.5 ? `, ${fewer.toFixed(fewer < 10 ? 1 : 0)} times fewer` : "";
  return {
    keys: `${result.keys.toLocaleString("en")} of ${result.sourceKeys.toLocaleString("en")}${times}`,
    error: `${lengthText(result.error)}, ${((result.angle * 180) / Math.PI).toFixed(2)}° at most`,
    time: duration(result.seconds),
  };
}

export interface ReduceDial {
  panel: HTMLElement;
  /** Stands below keys and graph if the clip is baked, and suggests to reduce it. */
  suggestion: HTMLElement;
}

export function createReduceDial(session: EditSession): ReduceDial {
  const track = h("input", {
    type: "range",
    min: 0,
    max: DIAL_STEPS,
    step: 1,
    "aria-label": "Tolerance of the reduction",
    "data-testid": "reduce-dial",
    title: "Largest allowed error of any joint",
  });
  const field = numberField({
    label: "Tolerance",
    value: 5,
    minimum: 0.001,
    step: 0.1,
    digits: 2,
    unit: "mm",
    input: (mm) => setTolerance(mm / 1e3, false),
    change: () => void preview(),
  });
  const figure = (id: string) => h("dd", { "data-testid": `reduce-${id}` }, "–");
  const [keys, error, time] = [figure("keys"), figure("error"), figure("time")];
  const busy = h("span", { class: "spinner hidden", "aria-hidden": "true" });
  const go = h(
    "button",
    { type: "button", class: "strong", "data-testid": "reduce", onclick: () => void reduce() },
    "Reduce",
  );
  const about = h("p", { class: "muted" });
  const mode = h(
    "select",
    { "data-testid": "reduce-mode", "aria-label": "Where keys are", onchange: () => void preview() },
    ...KEY_MODES.map(([value, text]) => h("option", { value }, text)),
  );
  const keyMode = () => mode.value as KeyMode;
  const figures = h(
    "dl",
    { class: "reduce-figures" },
    h("dt", {}, "Keys"),
    keys,
    h("dt", {}, "Error"),
    error,
    h("dt", {}, "Took"),
    time,
  );
  const panel = h(
    "details",
    { class: "section reduce hidden" },
    h("summary", {}, h("h2", {}, "Reduce", busy)),
    about,
    h("div", { class: "reduce-dial" }, h("label", {}, "Tolerance"), track, field.element),
    h("label", { class: "reduce-keys" }, "Keys", mode),
    figures,
    go,
  );
  const reduceButton = h("button", {
    type: "button",
    class: "strong",
    "data-testid": "reduce-offer",
    onclick: () => void reduce(),
  });
  const why = h("p", {});
  const suggestion = h("div", { class: "graph-offer hidden" }, why, reduceButton);
  let state: EditState | null = null;
  let shown = "";
  let tolerance = 0.005; // m
  let isRequesting = false;
  let isOutdated = false;
  let reducing = false;
  let current: { tolerance: number; keys: KeyMode; asked: Promise<unknown> } | null = null;

  function setTolerance(metres: number, fromTrack: boolean): void {
    tolerance = metres;
    if (!fromTrack) track.value = String(Math.round(DIAL_STEPS * dialPosition(metres / (state?.size || 1))));
    field.value = metres * 1e3;
    track.style.setProperty("--filled", `${(100 * Number(track.value)) / DIAL_STEPS}%`);
    reduceButton.textContent = `Reduce within ${lengthText(metres)}`;
    void preview();
  }

  /** Requests a preview of the tolerance; while one is pending, only the newest waits. */
  async function preview(): Promise<void> {
    if (!state || reducing) return;
    isOutdated = isRequesting;
    if (isRequesting) return;
    isRequesting = true;
    busy.classList.remove("hidden");
    figures.classList.add("stale"); // until the result for this tolerance arrives
    const request = session.ask({
      kind: "editReduce",
      tolerance,
      angle: angleTolerance(tolerance / (state.size || 1)),
      keys: keyMode(),
      preview: true,
    });
    current = { tolerance, keys: keyMode(), asked: request };
    const result = await request;
    current = null;
    isRequesting = false;
    busy.classList.toggle("hidden", !isOutdated);
    figures.classList.toggle("stale", isOutdated);
    if (result && !result.replaced) showResult(result);
    if (isOutdated && result) void preview();
  }

  function showResult(result: EditReduced): void {
    const text = resultText(result);
    keys.textContent = text.keys;
    error.textContent = text.error;
    time.textContent = text.time;
  }

  async function reduce(): Promise<void> {
    if (reducing) return;
    reducing = true;
    go.disabled = reduceButton.disabled = true;
    busy.classList.remove("hidden");
    // Wait for a pending preview with the same settings, whose result the server reuses.
    if (current?.tolerance === tolerance && current.keys === keyMode()) await current.asked;
    const result = await session.ask({
      kind: "editReduce",
      tolerance,
      angle: angleTolerance(tolerance / (state?.size || 1)),
      keys: keyMode(),
      preview: false,
    });
    reducing = go.disabled = reduceButton.disabled = false;
    busy.classList.add("hidden");
    if (result && !result.replaced) showResult(result);
  }

  track.addEventListener("input", () =>
    setTolerance((state?.size || 1) * toleranceAt(Number(track.value) / DIAL_STEPS), true),
  );
  track.addEventListener("keydown", (event) => RANGE_KEYS.has(event.key) && event.stopPropagation());
  track.addEventListener("dblclick", () => setTolerance((state?.size || 1) * DEFAULT_TOLERANCE, false));

  session.onState((next) => {
    state = next;
    panel.classList.toggle("hidden", !state);
    suggestion.classList.toggle("hidden", !state?.baked);
    if (!state) return;
    const wait = state.estimate > 1 ? ` It takes about ${duration(state.estimate)}.` : "";
    const inAll = `${state.sourceKeys.toLocaleString("en")} in all`;
    about.textContent = state.baked
      ? `Every frame is a key, ${inAll}. Drags work as it is; few keys can also be seen and posed.${wait}`
      : "Reduces the keys of the original clip again; edits are discarded.";
    why.textContent = `Every frame is a key, ${inAll}: drag any point. Few keys are easier to pose.${wait}`;
    if (shown === state.edit) return;
    shown = state.edit;
    for (const element of [keys, error, time]) element.textContent = "–";
    tolerance = state.size * DEFAULT_TOLERANCE;
    field.value = tolerance * 1e3;
    track.value = String(Math.round(DIAL_STEPS * dialPosition(DEFAULT_TOLERANCE)));
    track.style.setProperty("--filled", `${(100 * Number(track.value)) / DIAL_STEPS}%`);
    reduceButton.textContent = `Reduce within ${lengthText(tolerance)}`;
    if (panel.open) previewIfShort();
  });

  /** Previews a short reduction of a baked clip, once the panel is open: a drag should not wait for it. */
  function previewIfShort(): void {
    if (state?.baked && state.estimate < MAX_PREVIEW_SECONDS) void preview();
  }
  panel.addEventListener("toggle", () => panel.open && previewIfShort());
  return { panel, suggestion: suggestion };
}
