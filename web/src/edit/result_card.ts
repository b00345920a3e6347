/** The result of a drag: how the motion changed, and where it is blocked, how near it came, why, and suggestions. */
import type { Context } from "../context";
import { slider } from "../controls/slider";
import { h, replace } from "../dom";
import type {
  EditOutcomeEvent,
  EditSketched,
  MotionChange,
  StanceEntry,
  StudioRequest,
  SuggestionEntry,
} from "../protocol/messages";
import { asSentence } from "../shell/notices";
import type { CurveLayer } from "./curve_layer";
import { type DragController, formatLength, TEXT_INTERVAL_MS } from "./drag";
import { svg } from "./gizmo";
import type { Glyph } from "./glyphs";
import { stanceText } from "./reach_section";
import { AMBER, PAST } from "./screen_shapes";
import type { EditSession } from "./session";
import type { EditView } from "./view";

const REACHED_CARD_MS = 12_000; // then a card without suggestions goes by itself
// Beyond these a change is called out: a joint elsewhere, and the speed of the point.
const MUCH_MOVED_RATIO = 0.012; // of the character's size: 2 cm for a person
const MUCH_FASTER_RATIO = 3;
const VISIBLE_MOVE_M = 1e-4;
const VISIBLE_TURNS = 0.5; // of a joint; fair drags add a third

type Progress = Pick<SuggestionEntry, "reachedM" | "requiredM" | "reachedRad" | "requiredRad" | "slipM">;

const threeDigits = (value: number): string => String(Number(value.toPrecision(3)));

/** What remains of the way, in metres from 1 m and in millimetres below: "3 of 4 mm and 5 of 6 degrees remain". */
export function remainingText({ reachedM, requiredM, reachedRad, requiredRad, slipM }: Progress): string {
  const parts: string[] = [];
  const add = (reached: number, required: number, scale: number, unit: string): void => {
    if (required > 0)
      parts.push(`${threeDigits(scale * (required - reached))} of ${threeDigits(scale * required)} ${unit}`);
  };
  if (requiredM >= 1) add(reachedM, requiredM, 1, "m");
  else add(reachedM, requiredM, 1000, "mm");
  add(reachedRad, requiredRad, 180 / Math.PI, "degrees");
  return `${parts.join(" and ") || `${threeDigits(1000 * slipM)} mm of slip`} remain`;
}

/** The result of a suggestion in a few words. */
export function suggestionResult(suggestion: Progress & Pick<SuggestionEntry, "reached" | "keys">): string {
  const { reached, keys } = suggestion;
  const more = keys ? `, ${keys} ${keys === 1 ? "key" : "keys"} more` : "";
  return (reached ? "gets there" : remainingText(suggestion)) + more;
}

/** What a suggestion does, as the text of its button. */
export function suggestionTitle(suggestion: SuggestionEntry): string {
  const { way, what, constraint, start, stop, falloff, keys } = suggestion;
  const name = what.join(" and ");
  if (way === "insert") return keys ? `Add ${keys === 1 ? "one key" : `${keys} keys`} here` : "Change the key here";
  if (way === "widen") {
    if (falloff !== null) return `Widen the falloff to ± ${falloff.toFixed(2)} s`;
    if (name === "edges") return "Let tangents break at the ends";
    return name === "range" ? "Free the tangents around it" : `Widen the limit of ${name}`;
  }
  const when = start === null || stop === null ? "" : `, ${stanceText({ start, stop })}`;
  if (constraint === "foot") return `Let ${name} go${when}`;
  if (constraint === "contact") return `Let ${name} move${when}`;
  if (constraint === "hold") return `Release ${name} at ${(start ?? 0).toFixed(2)} s`;
  return `Release the pin of ${name}`;
}

/** How a drag or stroke changed the motion as a whole, in lines; `much` marks what was hardly meant. */
export function changeLines(change: MotionChange, size: number): { text: string; much: boolean }[] {
  const asked = change.askedM > 0 ? ` for ${formatLength(change.askedM)} asked` : " at most";
  const lines = [
    { text: `Moves ${formatLength(change.furthestM)}${asked}`, much: false },
    { text: `From ${change.start.toFixed(2)} to ${change.stop.toFixed(2)} s`, much: false },
    change.othersM > VISIBLE_MOVE_M
      ? {
          text: `Elsewhere ${change.otherJoint}, ${formatLength(change.othersM)}`,
          much: change.othersM > MUCH_MOVED_RATIO * size,
        }
      : { text: "Nothing else moves", much: false },
    {
      text: `Speed × ${change.speedRatio.toFixed(2)}, acceleration × ${change.accelerationRatio.toFixed(2)}`,
      much: change.speedRatio > MUCH_FASTER_RATIO || change.accelerationRatio > MUCH_FASTER_RATIO,
    },
  ];
  if (change.extraTurns >= VISIBLE_TURNS)
    lines.push({ text: `A joint makes ${change.extraTurns.toFixed(1)} turns more`, much: true });
  return lines;
}

/** The heading of a blocked drag: what was asked for, and what was kept. */
export function blockedTitle({ blocks }: Pick<EditOutcomeEvent, "blocks">): string {
  const block = blocks[0];
  if (block?.kind === "path") return "The goal is met, but not by a sane motion";
  const left = block ? block.requiredM - block.reachedM : 0;
  if (!block || block.requiredM <= 0 || left < 0.01 * block.requiredM) return "Not everything can be kept";
  return `${formatLength(block.requiredM)} is too far, ${formatLength(Math.max(0, block.reachedM))} was kept`;
}

export interface ResultCard {
  awake: boolean;
  readonly open: boolean;
  /** Whether it shows suggestions, which another drag would remove. */
  readonly blocked: boolean;
  dismiss(): void;
  /** Shows how well a stroke is followed. */
  showStroke(name: string, result: EditSketched): void;
}

export function createResultCard(
  { stage, connection }: Context,
  host: HTMLElement,
  session: EditSession,
  layer: CurveLayer,
  drags: DragController,
  view: EditView,
): ResultCard {
  const title = h("strong", { class: "title", "data-testid": "edit-result" });
  const why = h("p", { class: "why", "data-testid": "edit-why" });
  const facts = h("ul", { class: "change", "data-testid": "edit-change" });
  const feet = h("div", { class: "feet", "data-testid": "edit-result-feet" });
  const weight = slider({
    label: "Weight",
    value: 100,
    reset: 100,
    minimum: 0,
    maximum: 100,
    step: 5,
    unit: "%",
    about: "How much of the last drag is kept",
    change: (value) => changeRelease({ kind: "editWeigh", weight: value / 100 }),
  });
  weight.element.dataset.testid = "edit-weight";
  const suggestionList = h("div", { class: "offers" });
  const more = h("p", { class: "muted more" });
  const close = h(
    "button",
    {
      type: "button",
      class: "quiet small square",
      "aria-label": "Leave it as it is",
      title: "Leave it as it is (Esc)",
      onclick: () => dismiss(),
    },
    "×",
  );
  const card = h(
    "div",
    { class: "edit-result hidden", role: "status", "data-testid": "edit-blocked" },
    close,
    title,
    why,
    suggestionList,
    more,
    facts,
    feet,
    weight.element,
  );
  const lead = svg("svg", { class: "edit-lead hidden", "aria-hidden": "true" }, svg("path", {}));
  host.append(lead, card);
  let awake = false;
  let outcome: EditOutcomeEvent | null = null;
  let isOpen = false;
  let goal: [number, number, number] | null = null;
  let dragged = ""; // name of the point
  let writeTimer = 0;
  let closeTimer = 0;
  let revision = -1;
  let changes = 0; // of the curves since the release; the first one is the drag itself

  function dismiss(): void {
    clearTimeout(closeTimer);
    if (!drags.active) view.reach = null;
    if (!outcome && !goal && !isOpen) return;
    outcome = null;
    goal = null;
    isOpen = false;
    card.classList.add("hidden");
    lead.classList.add("hidden");
    layer.setOverlay([]);
  }

  async function accept(which: number): Promise<void> {
    for (const button of suggestionList.querySelectorAll("button")) button.disabled = true;
    await session.ask({ kind: "editOffer", which });
    dismiss();
  }

  /** Changes the drag that was released; the card stays. */
  function changeRelease(request: StudioRequest): void {
    changes = 0;
    void session.ask(request);
  }

  function show(next: EditOutcomeEvent): void {
    outcome = next;
    markGhost();
    if (!drags.active) write();
    else writeTimer ||= window.setTimeout(write, TEXT_INTERVAL_MS);
  }

  /** Writes the card; during a drag it is delayed, so that the stage is drawn first. */
  function write(): void {
    clearTimeout(writeTimer);
    writeTimer = 0;
    const next = outcome;
    if (!next) return;
    const resting = !drags.active;
    const reason = asSentence(next.sentence || next.blocks[0]?.sentence || "it does not get there");
    title.textContent = next.reached ? `${dragged} is there` : resting ? blockedTitle(next) : "Blocked";
    why.textContent = next.reached ? "" : reason;
    writeFacts(next.change, next.feet);
    weight.element.classList.toggle("hidden", !resting || !next.released);
    if (next.released) weight.value = 100;
    more.textContent = "";
    if (resting || next.offers.length || suggestionList.childElementCount)
      replace(suggestionList, ...(resting || next.offers.length ? suggestionButtons(next) : []));
    open(next.reached, resting);
    drawLead();
  }

  function writeFacts(change: MotionChange | null, held: readonly StanceEntry[]): void {
    replace(
      facts,
      ...(change ? changeLines(change, session.state?.size ?? 1) : []).map(({ text, much }) =>
        h("li", { class: much ? "much" : "" }, text),
      ),
    );
    const names = [...new Set(held.map((stance) => stance.joint))];
    replace(feet, ...names.map((joint) => footChip(held.filter((stance) => stance.joint === joint))));
  }

  /** A foot that was held, in all its stances within the window; a click lets it go. */
  function footChip(stances: readonly StanceEntry[]): HTMLElement {
    const { joint } = stances[0];
    return h(
      "button",
      {
        type: "button",
        class: "small foot",
        title: `Let ${joint} go in this drag and the next, ${stances.map(stanceText).join(" and ")}`,
        "data-name": joint,
        onclick: (event: Event) => {
          (event.currentTarget as HTMLElement).remove();
          for (const { start, stop } of stances)
            changeRelease({ kind: "editHoldFoot", joint, time: (start + stop) / 2, hold: false });
        },
      },
      h("span", { class: "glyph held-pin", "aria-hidden": "true" }),
      `${joint} held`,
      h("span", { "aria-hidden": "true" }, "×"),
    );
  }

  function open(reached: boolean, resting: boolean): void {
    isOpen = true;
    card.classList.toggle("resting", resting);
    card.classList.toggle("reached", reached);
    card.classList.remove("hidden");
    clearTimeout(closeTimer);
    if (reached && resting) closeTimer = window.setTimeout(closeUnlessUsed, REACHED_CARD_MS);
  }

  function closeUnlessUsed(): void {
    if (card.matches(":hover, :focus-within")) closeTimer = window.setTimeout(closeUnlessUsed, REACHED_CARD_MS);
    else dismiss();
  }

  function suggestionButtons(next: EditOutcomeEvent): HTMLElement[] {
    if (next.reached) return [];
    if (next.pending && !next.offers.length) return [h("span", { class: "muted" }, "Looking for suggestions…")];
    return next.offers.map((suggestion) => {
      const name = suggestionTitle(suggestion);
      const text = asSentence(suggestion.sentence);
      const button = h(
        "button",
        {
          type: "button",
          class: "offer",
          "data-testid": `edit-offer-${suggestion.way}`,
          "aria-label": `${name}. ${text}`,
          title: text,
          onclick: () => void accept(suggestion.which),
        },
        h("strong", {}, name),
        h("span", { class: "muted" }, suggestionResult(suggestion)),
      );
      // Show the full sentence below while a button is hovered or focused.
      for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => (more.textContent = text));
      for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => (more.textContent = ""));
      return button;
    });
  }

  const ghostOf = (): [number, number, number] | null =>
    outcome && !outcome.reached ? (outcome.ghost ?? outcome.place) : null;

  function markGhost(): void {
    const ghost = ghostOf();
    if (!awake) return;
    const glyphs: Glyph[] = ghost ? [{ place: ghost, shape: "disc", size: 15, colour: AMBER, alpha: 0.55 }] : [];
    if (ghost && goal) glyphs.push({ place: goal, shape: "dashes", size: 20, colour: PAST });
    layer.setOverlay(glyphs);
  }

  /** Draws the line from the ghost to the goal for the current drag and camera. */
  function drawLead(): void {
    const ghost = ghostOf();
    lead.classList.toggle("hidden", !awake || !ghost || !goal);
    if (!awake || !ghost || !goal) return;
    const [at, to] = [stage.project(ghost), stage.project(goal)];
    lead.firstElementChild?.setAttribute(
      "d",
      `M${at.x.toFixed(1)} ${at.y.toFixed(1)}L${to.x.toFixed(1)} ${to.y.toFixed(1)}`,
    );
  }

  connection.on("editOutcome", (next) => {
    if (!awake || next.gesture === drags.cancelled) return;
    if (next.reached && !(next.released && next.change)) return dismiss();
    show(next);
  });
  drags.onGoal((to) => {
    goal = to;
  });
  drags.onChange(() => {
    if (drags.active) {
      changes = 0;
      dragged = drags.active.name;
    }
    const isCancelled = outcome !== null && outcome.gesture === drags.cancelled;
    if (isCancelled || (drags.active && !drags.active.outcome)) dismiss();
    else if (outcome) show(outcome);
  });
  // After undo, redo or another edit the card is out of date.
  session.onState((state) => {
    const next = state?.revision ?? -1;
    if (next === revision) return;
    revision = next;
    if (!drags.active && ++changes > 1) dismiss();
  });
  stage.onDrawn(() => outcome && drawLead());
  return {
    get awake() {
      return awake;
    },
    set awake(next) {
      awake = next;
      if (!next) dismiss();
    },
    get open() {
      return isOpen;
    },
    get blocked() {
      return outcome !== null && !outcome.reached;
    },
    dismiss,
    showStroke(name, { reached, distance, sentence, notes, change }) {
      if (!awake) return;
      outcome = null;
      changes = 1; // the stroke itself
      title.textContent = reached
        ? `${name} follows the stroke`
        : `${name} follows the stroke up to ${formatLength(distance)}`;
      why.textContent = [reached ? "" : asSentence(sentence), ...notes.map(asSentence)].filter(Boolean).join(" ");
      replace(suggestionList);
      more.textContent = "";
      writeFacts(change, []);
      weight.element.classList.add("hidden");
      open(reached, true);
    },
  };
}
