/** A blocked drag: shows the nearest reachable position as a ghost, why it stops there, and suggestions. */
import type { Context } from "../context";
import { h, replace } from "../dom";
import type { EditOutcomeEvent, SuggestionEntry } from "../protocol/messages";
import { asSentence } from "../shell/notices";
import type { CurveLayer } from "./curve_layer";
import { type DragController, TEXT_INTERVAL_MS } from "./drag";
import { svg } from "./gizmo";
import type { Glyph } from "./glyphs";
import { AMBER, PAST } from "./screen_shapes";
import type { EditSession } from "./session";

type Way = SuggestionEntry["way"];
const SUGGESTION_TEXTS: Record<Way, { title: string; about: string }> = {
  release: { title: "Release", about: "Release the constraint in the way" },
  widen: { title: "Widen", about: "Give the tangents more room" },
  insert: { title: "Add a key", about: "Insert a key here" },
};
const CHANGE_KEY_TEXT = { title: "Change the key", about: "Change the values of existing keys" };
const CARD_DISTANCE_PX = 26; // between the ghost and its card
const MARGIN_PX = 8;
const TOOLBAR_PX = 52; // reserved for the toolbar at the top

const KEPT_TEXT = "The nearest reachable position was kept.";

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

type Pixel = { x: number; y: number };

/**
 * The position of a card beside a point, within the stage: on the outer side, so that the character stays visible; if
 * there is no room, above or below the point, away from the goal; else on the other side.
 */
export function cardPosition(
  at: Pixel,
  size: { width: number; height: number },
  room: { width: number; height: number },
  goal: Pixel | null = null,
): Pixel {
  const onRight = at.x >= room.width / 2;
  const [right, left] = [at.x + CARD_DISTANCE_PX, at.x - CARD_DISTANCE_PX - size.width];
  const fits = { right: right + size.width + MARGIN_PX <= room.width, left: left >= MARGIN_PX };
  const clamp = (value: number, least: number, most: number): number =>
    Math.max(MARGIN_PX, Math.min(Math.max(value, least), most));
  const level = clamp(at.y - size.height / 2, TOOLBAR_PX, room.height - size.height - MARGIN_PX);
  if (onRight ? fits.right : fits.left) return { x: onRight ? right : left, y: level };
  const edge = clamp(onRight ? room.width : 0, MARGIN_PX, room.width - size.width - MARGIN_PX);
  const ways = [at.y - CARD_DISTANCE_PX - size.height, at.y + CARD_DISTANCE_PX].filter(
    (y) => y >= TOOLBAR_PX && y + size.height + MARGIN_PX <= room.height,
  );
  const covers = (y: number): boolean =>
    goal !== null &&
    goal.x > edge - CARD_DISTANCE_PX / 2 &&
    goal.x < edge + size.width + CARD_DISTANCE_PX / 2 &&
    goal.y > y - CARD_DISTANCE_PX / 2 &&
    goal.y < y + size.height + CARD_DISTANCE_PX / 2;
  const free = ways.find((y) => !covers(y));
  if (free !== undefined) return { x: edge, y: free };
  const other = onRight ? left : right;
  return { x: clamp(other, MARGIN_PX, room.width - size.width - MARGIN_PX), y: level };
}

export interface ObstacleCard {
  awake: boolean;
  readonly open: boolean;
  dismiss(): void;
}

export function createObstacleCard(
  { stage, connection }: Context,
  host: HTMLElement,
  session: EditSession,
  layer: CurveLayer,
  drags: DragController,
): ObstacleCard {
  const why = h("p", { class: "why", "data-testid": "edit-why" });
  const more = h("p", { class: "muted" });
  const suggestionList = h("div", { class: "offers" });
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
    { class: "edit-blocked hidden", role: "status", "data-testid": "edit-blocked" },
    close,
    why,
    suggestionList,
    more,
  );
  const lead = svg("svg", { class: "edit-lead hidden", "aria-hidden": "true" }, svg("path", {}));
  host.append(lead, card);
  let awake = false;
  let outcome: EditOutcomeEvent | null = null;
  let goal: [number, number, number] | null = null;
  let writeTimer = 0;
  let hasMoved = false; // the ghost is no longer where the card was placed
  let [size, room] = [
    { width: 0, height: 0 },
    { width: 0, height: 0 },
  ];
  let revision = -1;
  let changes = 0; // of the curves since the release; the first one is the drag itself

  function dismiss(): void {
    if (!outcome && !goal) return;
    outcome = null;
    goal = null;
    card.classList.add("hidden");
    lead.classList.add("hidden");
    layer.setOverlay([]);
  }

  async function accept(which: number): Promise<void> {
    for (const button of suggestionList.querySelectorAll("button")) button.disabled = true;
    await session.ask({ kind: "editOffer", which });
    dismiss();
  }

  function show(next: EditOutcomeEvent): void {
    outcome = next;
    hasMoved = true;
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
    why.textContent = asSentence(next.sentence || next.blocks[0]?.sentence || "it does not get there");
    const resting = !drags.active;
    card.classList.toggle("resting", resting);
    more.textContent = resting ? KEPT_TEXT : "";
    if (resting || next.offers.length || suggestionList.childElementCount)
      replace(suggestionList, ...(resting || next.offers.length ? suggestionButtons(next) : []));
    card.classList.remove("hidden");
    measure();
    placeCard();
  }

  function measure(): void {
    size = { width: card.offsetWidth, height: card.offsetHeight };
    room = { width: host.clientWidth, height: host.clientHeight };
  }

  function suggestionButtons(next: EditOutcomeEvent): HTMLElement[] {
    if (next.pending && !next.offers.length) return [h("span", { class: "muted" }, "Looking for suggestions…")];
    return next.offers.map((suggestion) => {
      const { title, about } =
        suggestion.way === "insert" && !suggestion.keys ? CHANGE_KEY_TEXT : SUGGESTION_TEXTS[suggestion.way];
      const text = asSentence(suggestion.sentence);
      const button = h(
        "button",
        {
          type: "button",
          class: "offer",
          "data-testid": `edit-offer-${suggestion.way}`,
          "aria-label": `${title}. ${text}`,
          title: `${about}: ${suggestion.sentence}`,
          onclick: () => void accept(suggestion.which),
        },
        h("strong", {}, title),
        h("span", { class: "muted nowrap" }, suggestionResult(suggestion)),
      );
      // Show the full sentence below while a button is hovered or focused.
      for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => (more.textContent = text));
      for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => (more.textContent = KEPT_TEXT));
      return button;
    });
  }

  const ghostOf = (): [number, number, number] | null => outcome?.ghost ?? outcome?.place ?? null;

  function markGhost(): void {
    const ghost = ghostOf();
    if (!awake || !ghost) return;
    const glyphs: Glyph[] = [{ place: ghost, shape: "disc", size: 15, colour: AMBER, alpha: 0.55 }];
    if (goal) glyphs.push({ place: goal, shape: "dashes", size: 20, colour: PAST });
    layer.setOverlay(glyphs);
  }

  /** Places the card for the current drag and camera. */
  function placeCard(): void {
    hasMoved = false;
    const ghost = ghostOf();
    if (!awake || !ghost) return;
    if (!drags.active) measure(); // during a drag the last size is used
    const at = stage.project(ghost);
    const to = goal && stage.project(goal);
    const { x, y } = cardPosition(at, size, room, to);
    card.style.transform = `translate(${x.toFixed(0)}px, ${y.toFixed(0)}px)`;
    lead.classList.toggle("hidden", !to);
    if (!to) return;
    lead.firstElementChild?.setAttribute(
      "d",
      `M${at.x.toFixed(1)} ${at.y.toFixed(1)}L${to.x.toFixed(1)} ${to.y.toFixed(1)}`,
    );
  }

  connection.on("editOutcome", (next) => {
    if (!awake || next.gesture === drags.cancelled) return;
    if (next.reached) return dismiss();
    show(next);
  });
  drags.onGoal((to) => {
    goal = to;
  });
  drags.onChange(() => {
    if (drags.active) changes = 0;
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
  let lastView = "";
  stage.onDrawn(() => {
    const now = JSON.stringify(stage.view);
    if (outcome && (hasMoved || now !== lastView)) placeCard();
    lastView = now;
  });
  return {
    get awake() {
      return awake;
    },
    set awake(next) {
      awake = next;
      if (!next) dismiss();
    },
    get open() {
      return outcome !== null;
    },
    dismiss,
  };
}
