/** Score, status and controls over the game. */
import { h, icon } from "../dom";
import type { GameEvent, GameStrength } from "../protocol/messages";
import { capitalise, opponentName, SQUARES, squareLabel, statusLine } from "./game_text";

const CLAWS = "M3.5 2.5c1 4 3.5 8 6.5 11M6.5 2.5c1 3.5 3 7 5.5 9.5M12.5 3c-2 4-5 8-9 10.5M10 2.5c-1.5 3.5-4 7-7 9";
const RING = "M8 2.8a5.2 5.2 0 1 0 .1 0";
const SOUND_ON = "M2.5 6v4h2.5l3.5 3v-10l-3.5 3zM11 5.5c1.3 1.4 1.3 3.6 0 5M12.8 3.8c2.3 2.4 2.3 6 0 8.4";
const SOUND_OFF = "M2.5 6v4h2.5l3.5 3v-10l-3.5 3zM11 6l4 4M15 6l-4 4";
export const QUICK_PACE = 0.25; // relative to the usual thinking time

export interface HudActions {
  newGame(): void;
  strength(name: GameStrength["name"]): void;
  pace(pace: number): void;
  sound(on: boolean): void;
  take(square: number): void;
  focusSquare(square: number | null): void; // keyboard focus
}

export interface Hud {
  element: HTMLElement;
  show(game: GameEvent, strengths: readonly GameStrength[]): void;
  say(sentence: string): void;
  hint(text: string | null): void;
  sound(on: boolean): void;
  /** Places the squares' buttons, for keyboards and screen readers, over the drawn squares: CSS pixels of the page. */
  placeSquares(corners: readonly { x: number; y: number }[][]): void;
}

export function createHud(actions: HudActions): Hud {
  const you = side("you", CLAWS);
  const other = side("other", RING);
  const draws = h("span", { class: "game-draws muted" });
  const status = h("p", { class: "game-status" });
  const announcement = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const score = h(
    "div",
    { class: "game-score" },
    you.element,
    h("div", { class: "game-middle" }, status, draws),
    other.element,
  );
  const chooser = h("div", { class: "game-strengths", role: "radiogroup", "aria-label": "How well it plays" });
  const newButton = h(
    "button",
    { type: "button", class: "game-new", title: "New game (N)", onclick: actions.newGame },
    "New game",
  );
  const pace = h(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-pressed": "false",
      onclick: () => actions.pace(pace.getAttribute("aria-pressed") === "true" ? 1 : QUICK_PACE),
    },
    "Thinks quickly",
  );
  const sound = h("button", {
    type: "button",
    class: "quiet square",
    "aria-label": "Sound",
    "aria-pressed": "false",
    title: "Sound (S)",
    onclick: () => actions.sound(sound.getAttribute("aria-pressed") !== "true"),
  });
  const bar = h("div", { class: "game-bar" }, chooser, pace, sound, newButton);
  const hint = h("p", { class: "game-hint hidden" });
  const squares = SQUARES.map((square) =>
    h("button", {
      type: "button",
      class: "inset",
      "data-square": square,
      onclick: () => actions.take(square),
      onfocus: () => actions.focusSquare(square),
      onblur: () => actions.focusSquare(null),
    }),
  );
  const grid = h("div", { class: "game-grid", role: "group", "aria-label": "Board" }, ...squares);
  let shownStrengths = "";

  function side(name: string, path: string): { element: HTMLElement; count: HTMLElement; who: HTMLElement } {
    const count = h("span", { class: "game-count" }, "0");
    const who = h("span", { class: "game-who" });
    return { element: h("div", { class: `game-side ${name}` }, icon(path), who, count), count, who };
  }

  function choose(strengths: readonly GameStrength[], current: string): void {
    const key = JSON.stringify([strengths, current]);
    if (key === shownStrengths) return;
    shownStrengths = key;
    chooser.replaceChildren(
      ...strengths.map((strength) =>
        h(
          "button",
          {
            type: "button",
            role: "radio",
            "aria-checked": String(strength.name === current),
            title: `${strength.title}: ${strength.about}`,
            onclick: () => strength.name !== current && actions.strength(strength.name),
          },
          strength.title,
        ),
      ),
    );
  }

  return {
    element: h("div", { class: "game" }, score, grid, hint, bar, announcement),
    show(game, strengths) {
      const line = statusLine(game);
      you.who.textContent = "You";
      other.who.textContent = capitalise(opponentName(game).replace(/^the /, ""));
      you.count.textContent = String(game.player);
      other.count.textContent = String(game.opponent);
      draws.textContent = game.draws ? `${game.draws} ${game.draws === 1 ? "draw" : "draws"}` : "";
      you.element.classList.toggle("turn", game.turn === "claw");
      other.element.classList.toggle("turn", game.turn === "ember");
      if (status.textContent !== line) status.textContent = announcement.textContent = line;
      status.classList.toggle("ended", game.result !== "");
      newButton.classList.toggle("primary", game.result !== "");
      pace.setAttribute("aria-pressed", String(game.pace < 1));
      squares.forEach((button, square) => {
        button.setAttribute("aria-label", squareLabel(game, square));
        button.setAttribute("aria-disabled", String(game.turn !== "claw" || game.board[square] !== ""));
      });
      choose(strengths, game.strength);
    },
    say(sentence) {
      announcement.textContent = sentence;
    },
    hint(text) {
      hint.textContent = text ?? "";
      hint.classList.toggle("hidden", text === null);
    },
    placeSquares(corners) {
      corners.forEach((around, square) => {
        const [xs, ys] = [around.map((corner) => corner.x), around.map((corner) => corner.y)];
        const [left, top] = [Math.min(...xs), Math.min(...ys)];
        squares[square].style.cssText =
          `left:${left}px;top:${top}px;width:${Math.max(...xs) - left}px;height:${Math.max(...ys) - top}px`;
      });
    },
    sound(on) {
      sound.setAttribute("aria-pressed", String(on));
      sound.replaceChildren(icon(on ? SOUND_ON : SOUND_OFF));
    },
  };
}
