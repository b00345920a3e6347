/** The dial that turns a dense clip into few keys: what a tolerance gives is shown as it moves, and kept when asked. */

import { numberField } from "../../controls/number";
import { RANGE_KEYS } from "../../controls/slider";
import { h } from "../../dom";
import type { EditReduced, EditState } from "../../protocol/messages";
import { duration } from "../../shell/time";
import type { EditSession } from "../session";

/** Tolerances in parts of the character's size: 0.1 mm to 85 mm for a person, 3 mm at first. */
const FINEST = 6e-5;
const COARSEST = 0.05;
const USUAL = 0.002;
const STEPS = 200; // of the dial
const PATIENT = 4; // seconds: what takes longer is worked out when the dial is turned

/** The tolerance at a place of the dial (0 to 1), as a part of the size: equal ways are equal factors. */
export const toleranceAt = (place: number) => FINEST * (COARSEST / FINEST) ** place;
export const placeOf = (share: number) =>
  Math.min(1, Math.max(0, Math.log(share / FINEST) / Math.log(COARSEST / FINEST)));

/**
 * How far joints may be turned, radians, beside a tolerance as a part of the size: two degrees, and more where it is
 * coarse, else they alone would count.
 */
export const angleFor = (share: number) => (Math.PI / 90) * Math.sqrt(Math.max(1, share / USUAL));

/** A length as people say it: "0.35 mm", "12 mm", "1.2 m". */
export function lengthText(metres: number): string {
  if (metres < 1e-3) return `${(metres * 1e3).toFixed(2)} mm`;
  if (metres < 1) return `${(metres * 1e3).toFixed(metres < 0.02 ? 1 : 0)} mm`;
  return `${metres.toFixed(2)} m`;
}

/** What a reduction came to, in three figures. */
export function reducedText(found: EditReduced): { keys: string; error: string; time: string } {
  const fewer = found.keys > 0 ? found.sourceKeys / found.keys : 0;
  const times = fewer > 1.5 ? `, ${fewer.toFixed(fewer < 10 ? 1 : 0)} times fewer` : "";
  return {
    keys: `${found.keys.toLocaleString("en")} of ${found.sourceKeys.toLocaleString("en")}${times}`,
    error: `${lengthText(found.error)}, ${((found.angle * 180) / Math.PI).toFixed(2)}° at most`,
    time: duration(found.seconds),
  };
}

export interface ReduceDial {
  panel: HTMLElement;
  /** Lies over keys and graph where a clip has a key on every frame: it offers to reduce it first. */
  offer: HTMLElement;
}

export function createReduceDial(session: EditSession): ReduceDial {
  const track = h("input", {
    type: "range",
    min: 0,
    max: STEPS,
    step: 1,
    "aria-label": "Tolerance of the reduction",
    "data-testid": "reduce-dial",
    title: "How far any joint may be off",
  });
  const field = numberField({
    label: "Tolerance",
    value: 5,
    minimum: 0.001,
    step: 0.1,
    digits: 2,
    unit: "mm",
    input: (mm) => put(mm / 1e3, false),
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
  const poses = h("input", { type: "checkbox", "data-testid": "reduce-poses", onchange: () => void preview() });
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
    h(
      "label",
      {
        class: "check",
        title: "More keys in all, at fewer moments: a drag between two of them changes nothing beyond them",
      },
      poses,
      "Poses: all channels share their keys",
    ),
    figures,
    go,
  );
  const offered = h("button", {
    type: "button",
    class: "strong",
    "data-testid": "reduce-offer",
    onclick: () => void reduce(),
  });
  const why = h("p", {});
  const offer = h("div", { class: "graph-offer hidden" }, why, offered);
  let state: EditState | null = null;
  let shown = "";
  let wasBaked = false;
  let tolerance = 0.005; // m
  let asking = false;
  let again = false;
  let reducing = false;
  let current: { tolerance: number; shared: boolean; asked: Promise<unknown> } | null = null;

  function put(metres: number, fromTrack: boolean): void {
    tolerance = metres;
    if (!fromTrack) track.value = String(Math.round(STEPS * placeOf(metres / (state?.size || 1))));
    field.value = metres * 1e3;
    track.style.setProperty("--filled", `${(100 * Number(track.value)) / STEPS}%`);
    offered.textContent = `Reduce within ${lengthText(metres)}`;
    void preview();
  }

  /** Asks what the tolerance gives; while one is on its way only the newest waits. */
  async function preview(): Promise<void> {
    if (!state || reducing) return;
    again = asking;
    if (asking) return;
    asking = true;
    busy.classList.remove("hidden");
    figures.classList.add("stale"); // until what belongs to this tolerance is known
    const asked = session.ask({
      kind: "editReduce",
      tolerance,
      angle: angleFor(tolerance / (state.size || 1)),
      shared: poses.checked,
      preview: true,
    });
    current = { tolerance, shared: poses.checked, asked };
    const found = await asked;
    current = null;
    asking = false;
    busy.classList.toggle("hidden", !again);
    figures.classList.toggle("stale", again);
    if (found && !found.replaced) tell(found);
    if (again && found) void preview();
  }

  function tell(found: EditReduced): void {
    const text = reducedText(found);
    keys.textContent = text.keys;
    error.textContent = text.error;
    time.textContent = text.time;
  }

  async function reduce(): Promise<void> {
    if (reducing) return;
    reducing = true;
    go.disabled = offered.disabled = true;
    busy.classList.remove("hidden");
    // what is worked out already is not begun anew
    if (current?.tolerance === tolerance && current.shared === poses.checked) await current.asked;
    const found = await session.ask({
      kind: "editReduce",
      tolerance,
      angle: angleFor(tolerance / (state?.size || 1)),
      shared: poses.checked,
      preview: false,
    });
    reducing = go.disabled = offered.disabled = false;
    busy.classList.add("hidden");
    if (found && !found.replaced) tell(found);
  }

  track.addEventListener("input", () => put((state?.size || 1) * toleranceAt(Number(track.value) / STEPS), true));
  track.addEventListener("keydown", (event) => RANGE_KEYS.has(event.key) && event.stopPropagation());
  track.addEventListener("dblclick", () => put((state?.size || 1) * USUAL, false));

  session.onState((next) => {
    state = next;
    panel.classList.toggle("hidden", !state);
    offer.classList.toggle("hidden", !state?.baked);
    if (!state) return;
    const wait = state.estimate > 1 ? ` It takes about ${duration(state.estimate)}.` : "";
    const inAll = `${state.sourceKeys.toLocaleString("en")} in all`;
    about.textContent = state.baked
      ? `A key on every frame: ${inAll}. Fewer keys are needed to edit it.${wait}`
      : "Fewer keys for the same motion, made of the clip anew; edits of it are left behind.";
    why.textContent = `${state.clip} has a key on every frame, ${inAll}. Curves with few keys can be edited.${wait}`;
    if (wasBaked !== state.baked || shown !== state.edit) panel.open = state.baked;
    wasBaked = state.baked;
    if (shown === state.edit) return;
    shown = state.edit;
    for (const each of [keys, error, time]) each.textContent = "–";
    tolerance = state.size * USUAL;
    field.value = tolerance * 1e3;
    track.value = String(Math.round(STEPS * placeOf(USUAL)));
    track.style.setProperty("--filled", `${(100 * Number(track.value)) / STEPS}%`);
    offered.textContent = `Reduce within ${lengthText(tolerance)}`;
    if (state.baked && state.estimate < PATIENT) void preview();
  });
  return { panel, offer };
}
