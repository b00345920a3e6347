/** An edit that does not get there: the nearest place as a ghost, why it stops there, and what would help. */
import type { Context } from "../context";
import { h, replace } from "../dom";
import type { EditOutcomeEvent, OfferEntry } from "../protocol/messages";
import { asSentence } from "../shell/notices";
import type { CurveLayer } from "./curve_layer";
import { type Gestures, SAYS } from "./drag";
import { svg } from "./gizmo";
import type { Spot } from "./glyphs";
import { AMBER, PAST } from "./screen_shapes";
import type { EditSession } from "./session";

type Way = OfferEntry["way"];
const WAYS: Record<Way, { title: string; about: string }> = {
  release: { title: "Release", about: "Let go of what pushes back" },
  widen: { title: "Widen", about: "Give the tangents more room" },
  insert: { title: "Add a key", about: "One key here, and it is reached" },
};
const CHANGE = { title: "Change the key", about: "Keys that are there get other values" };
const ASIDE = 26; // px between the ghost and its card
const MARGIN = 8;
const TOOLS = 52; // px at the top that belong to the tools, where a card fits below

const KEPT = "The nearest place within reach was kept.";

/** What an offer comes to, in a few words: its sentence ends with what remains. */
export function comesTo({ reached, sentence, keys }: Pick<OfferEntry, "reached" | "sentence" | "keys">): string {
  const remains = /[\d.]\S* of \S+ \S+( and \S+ of \S+ \S+)? remain$/.exec(sentence)?.[0] ?? "gets nearer";
  const more = keys ? `, ${keys} ${keys === 1 ? "key" : "keys"} more` : "";
  return (reached ? "gets there" : remains) + more;
}

type Pixel = { x: number; y: number };

/**
 * Where a card of some size stands beside a point without leaving the stage: on the outer side, so that the character
 * stays in sight; where that is too narrow above or below the point, off the goal; else on the other side.
 */
export function beside(
  at: Pixel,
  size: { width: number; height: number },
  room: { width: number; height: number },
  goal: Pixel | null = null,
): Pixel {
  const onRight = at.x >= room.width / 2;
  const [right, left] = [at.x + ASIDE, at.x - ASIDE - size.width];
  const fits = { right: right + size.width + MARGIN <= room.width, left: left >= MARGIN };
  const clamp = (value: number, least: number, most: number): number =>
    Math.max(MARGIN, Math.min(Math.max(value, least), most));
  const level = clamp(at.y - size.height / 2, TOOLS, room.height - size.height - MARGIN);
  if (onRight ? fits.right : fits.left) return { x: onRight ? right : left, y: level };
  const edge = clamp(onRight ? room.width : 0, MARGIN, room.width - size.width - MARGIN);
  const ways = [at.y - ASIDE - size.height, at.y + ASIDE].filter(
    (y) => y >= TOOLS && y + size.height + MARGIN <= room.height,
  );
  const covers = (y: number): boolean =>
    goal !== null &&
    goal.x > edge - ASIDE / 2 &&
    goal.x < edge + size.width + ASIDE / 2 &&
    goal.y > y - ASIDE / 2 &&
    goal.y < y + size.height + ASIDE / 2;
  const free = ways.find((y) => !covers(y));
  if (free !== undefined) return { x: edge, y: free };
  const other = onRight ? left : right;
  return { x: clamp(other, MARGIN, room.width - size.width - MARGIN), y: level };
}

export interface Blocked {
  awake: boolean;
  readonly open: boolean;
  dismiss(): void;
}

export function createBlocked(
  { stage, connection }: Context,
  host: HTMLElement,
  session: EditSession,
  layer: CurveLayer,
  gestures: Gestures,
): Blocked {
  const why = h("p", { class: "why", "data-testid": "edit-why" });
  const more = h("p", { class: "muted" });
  const offers = h("div", { class: "offers" });
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
    offers,
    more,
  );
  const lead = svg("svg", { class: "edit-lead hidden", "aria-hidden": "true" }, svg("path", {}));
  host.append(lead, card);
  let awake = false;
  let outcome: EditOutcomeEvent | null = null;
  let goal: [number, number, number] | null = null;
  let soon = 0; // the timer that writes the card
  let fresh = false; // the place is another than where the card stands
  let [size, room] = [
    { width: 0, height: 0 },
    { width: 0, height: 0 },
  ];
  let revision = -1;
  let changes = 0; // of the curves since the hand let go; the first is the gesture itself

  function dismiss(): void {
    if (!outcome && !goal) return;
    outcome = null;
    goal = null;
    card.classList.add("hidden");
    lead.classList.add("hidden");
    layer.mark([]);
  }

  async function accept(which: number): Promise<void> {
    for (const button of offers.querySelectorAll("button")) button.disabled = true;
    await session.ask({ kind: "editOffer", which });
    dismiss();
  }

  function show(next: EditOutcomeEvent): void {
    outcome = next;
    fresh = true;
    mark();
    if (!gestures.going) write();
    else soon ||= window.setTimeout(write, SAYS);
  }

  /** The card itself; while something is dragged it waits, the picture comes first. */
  function write(): void {
    clearTimeout(soon);
    soon = 0;
    const next = outcome;
    if (!next) return;
    why.textContent = asSentence(next.sentence || next.blocks[0]?.sentence || "it does not get there");
    const resting = !gestures.going;
    card.classList.toggle("resting", resting);
    more.textContent = resting ? KEPT : "";
    if (resting || next.offers.length || offers.childElementCount)
      replace(offers, ...(resting || next.offers.length ? offerButtons(next) : []));
    card.classList.remove("hidden");
    measure();
    place();
  }

  function measure(): void {
    size = { width: card.offsetWidth, height: card.offsetHeight };
    room = { width: host.clientWidth, height: host.clientHeight };
  }

  function offerButtons(next: EditOutcomeEvent): HTMLElement[] {
    if (next.pending && !next.offers.length) return [h("span", { class: "muted" }, "Working out what would help…")];
    return next.offers.map((offer) => {
      const { title, about } = offer.way === "insert" && !offer.keys ? CHANGE : WAYS[offer.way];
      const said = asSentence(offer.sentence);
      const button = h(
        "button",
        {
          type: "button",
          class: "offer",
          "data-testid": `edit-offer-${offer.way}`,
          "aria-label": `${title}. ${said}`,
          title: `${about}: ${offer.sentence}`,
          onclick: () => void accept(offer.which),
        },
        h("strong", {}, title),
        h("span", { class: "muted nowrap" }, comesTo(offer)),
      );
      // what exactly it does is told below while a hand is on it
      for (const name of ["pointerenter", "focus"]) button.addEventListener(name, () => (more.textContent = said));
      for (const name of ["pointerleave", "blur"]) button.addEventListener(name, () => (more.textContent = KEPT));
      return button;
    });
  }

  const ghostOf = (): [number, number, number] | null => outcome?.ghost ?? outcome?.place ?? null;

  function mark(): void {
    const ghost = ghostOf();
    if (!awake || !ghost) return;
    const spots: Spot[] = [{ place: ghost, shape: "disc", size: 15, colour: AMBER, alpha: 0.55 }];
    if (goal) spots.push({ place: goal, shape: "dashes", size: 20, colour: PAST });
    layer.mark(spots);
  }

  /** The card follows the hand and the camera. */
  function place(): void {
    fresh = false;
    const ghost = ghostOf();
    if (!awake || !ghost) return;
    if (!gestures.going) measure(); // while something is dragged as large as it was written last
    const at = stage.project(ghost);
    const to = goal && stage.project(goal);
    const { x, y } = beside(at, size, room, to);
    card.style.transform = `translate(${x.toFixed(0)}px, ${y.toFixed(0)}px)`;
    lead.classList.toggle("hidden", !to);
    if (!to) return;
    lead.firstElementChild?.setAttribute(
      "d",
      `M${at.x.toFixed(1)} ${at.y.toFixed(1)}L${to.x.toFixed(1)} ${to.y.toFixed(1)}`,
    );
  }

  connection.on("editOutcome", (next) => {
    if (!awake || next.gesture === gestures.cancelled) return;
    if (next.reached) return dismiss();
    show(next);
  });
  gestures.onGoal((to) => {
    goal = to;
  });
  gestures.onChange(() => {
    if (gestures.going) changes = 0;
    const taken = outcome !== null && outcome.gesture === gestures.cancelled;
    if (taken || (gestures.going && !gestures.going.outcome)) dismiss();
    else if (outcome) show(outcome);
  });
  // What is undone, redone or edited otherwise is not what the card speaks of.
  session.onState((state) => {
    const next = state?.revision ?? -1;
    if (next === revision) return;
    revision = next;
    if (!gestures.going && ++changes > 1) dismiss();
  });
  let from = "";
  stage.onDrawn(() => {
    const now = JSON.stringify(stage.view);
    if (outcome && (fresh || now !== from)) place();
    from = now;
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
