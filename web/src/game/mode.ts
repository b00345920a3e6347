/**
 * The play mode: tic-tac-toe against the character on stage. The server runs the game; the page draws it and sends
 * clicks.
 */
import "./game.css";
import type { Context } from "../context";
import type { Command, Mode } from "../modes/mode";
import { RequestError } from "../protocol/connection";
import type { GameEntered, GameEvent, GameStrength } from "../protocol/messages";
import { storedSetting, storeSetting } from "../shell/settings";
import type { View } from "../stage/api";
import { type Board, createBoard } from "./board";
import { createBoardPointer } from "./board_pointer";
import { boardView, squareCorners } from "./board_view";
import { createEmptyState } from "./empty_state";
import { mayTake, SQUARES, squareAfterKey } from "./game_text";
import { createHud, QUICK_PACE } from "./hud";
import { createSounds, type SoundName } from "./sound";

const HINT = "Click a square, or press 1 to 9. Three in a line wins.";
const END_SOUNDS: Record<string, SoundName> = { won: "growl", lost: "chime", draw: "sigh" };

export function gameMode(context: Context): Mode {
  const { stage, connection, store, notices } = context;
  const sounds = createSounds(storedSetting("game.sound", false));
  const emptyState = createEmptyState(context);
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let active = false;
  let entering = false;
  let entered: GameEntered | null = null;
  let game: GameEvent | null = null;
  let board: Board | null = null;
  let viewBefore: View | null = null; // the view of the previous mode
  let gameView: View | null = null; // null once the user has moved the camera
  let squaresKey = ""; // the view that the squares' buttons were placed for
  let cursor = 4;
  let seed = seedOf(location.search);

  const hud = createHud({
    newGame: () => ask({ kind: "newGame" }),
    strength(name) {
      storeSetting("game.strength", name);
      ask({ kind: "newGame", strength: name });
    },
    pace(pace) {
      storeSetting("game.quick", pace < 1);
      ask({ kind: "paceGame", pace });
    },
    sound(on) {
      sounds.on = on;
      storeSetting("game.sound", on);
      hud.sound(on);
    },
    take,
    focusSquare: (square) => moveCursor(square),
  });
  hud.sound(sounds.on);
  const pointer = createBoardPointer(context, {
    table: () => entered?.table ?? null,
    hover(square) {
      const free = square !== null && mayTake(game, square);
      board?.cursor(null);
      board?.hover(free ? square : null);
      stage.canvas.style.cursor = free ? "pointer" : "";
    },
    click: take,
  });

  function ask(message: Parameters<typeof connection.request>[0]): void {
    connection.request(message).catch(notices.showError);
  }

  /** Takes a square. The character shows a refusal; screen readers read it. */
  function take(square: number): void {
    if (!game) return;
    cursor = square;
    board?.hover(null);
    storeSetting("game.hinted", true);
    connection.request({ kind: "placeMark", square }).catch((reason: unknown) => {
      if (reason instanceof RequestError) hud.say(reason.sentence);
      else notices.showError(reason);
    });
  }

  function moveCursor(square: number | null): void {
    if (square !== null) cursor = square;
    board?.hover(null);
    board?.cursor(square);
  }

  async function enter(): Promise<void> {
    emptyState.refresh();
    if (!active || entering || entered || !store.document?.models.length) return;
    entering = true;
    try {
      const strength = storedSetting<string>("game.strength", "fledgling") as GameStrength["name"];
      const response = await connection.request({
        kind: "enterGame",
        strength,
        pace: storedSetting("game.quick", false) ? QUICK_PACE : 1,
        seed,
      });
      seed = null;
      if (active) startGame(response);
    } catch (reason) {
      notices.showError(reason);
    } finally {
      entering = false;
    }
  }

  function startGame(response: GameEntered): void {
    entered = response;
    board?.dispose();
    board = createBoard(stage, response.table, reducedMotion);
    resetView();
    hud.element.classList.remove("hidden");
    pointer.awake = true;
    show(response.game);
  }

  /** Shows the game's view, until the user moves the camera. */
  function resetView(): void {
    if (!entered) return;
    stage.view = gameView = boardView(entered.table, stage.canvas.clientWidth, stage.canvas.clientHeight);
  }

  stage.onSeen(() => {
    if (!active || !entered) return;
    const view = stage.view;
    // A new character on stage is framed by itself; then the board is framed again.
    if (gameView && Math.abs(view.distance - gameView.distance) > 1e-6) resetView();
    const { clientWidth, clientHeight } = stage.canvas;
    const key = JSON.stringify([view, clientWidth, clientHeight]);
    if (key === squaresKey) return;
    squaresKey = key;
    const { table } = entered;
    hud.placeSquares(SQUARES.map((square) => squareCorners(table, square).map((point) => stage.project(point))));
  });
  stage.canvas.addEventListener("wheel", () => (gameView = null), { passive: true });
  stage.canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) gameView = null;
  });

  function show(next: GameEvent): void {
    const last = game;
    game = next;
    board?.show(next);
    hud.show(next, entered?.strengths ?? []);
    hud.hint(storedSetting("game.hinted", false) || next.board.some(Boolean) ? null : HINT);
    if (last && next.round === last.round) playSounds(last, next);
    if (!mayTake(next, cursor)) board?.hover(null);
  }

  function playSounds(last: GameEvent, next: GameEvent): void {
    const fresh = next.board.findIndex((mark, square) => mark !== "" && last.board[square] === "");
    if (fresh >= 0) sounds.play(next.board[fresh] === "claw" ? "scratch" : "flare");
    if (next.phase !== last.phase && next.phase in { lost: 0, won: 0, draw: 0 }) sounds.play(END_SOUNDS[next.result]);
  }

  function leave(): void {
    active = false;
    pointer.awake = false;
    board?.dispose();
    board = null;
    entered = game = null;
    hud.element.classList.add("hidden");
    connection.send({ kind: "leaveGame" });
    gameView = null;
    if (viewBefore) stage.view = viewBefore;
  }

  connection.on("game", (event) => {
    if (active && entered) show(event);
  });
  store.onDocument(() => void enter());
  store.onHello(() => {
    entered = null; // it may be another server: ask for the state of the game
    void enter();
  });
  window.addEventListener("resize", () => active && gameView && resetView());

  const key = (id: string, title: string, keys: string[], run: () => void): Command => ({
    id: `game.${id}`,
    title,
    keys,
    enabled: () => game !== null,
    run,
  });
  const move = (name: string, words: string): Command =>
    key(`move${name}`, `Go to the square ${words}`, [name], () =>
      moveCursor(board ? squareAfterKey(cursor, name) : null),
    );
  return {
    id: "play",
    title: "Play",
    hidesDocks: true,
    commands: [
      key("new", "New game", ["n"], () => ask({ kind: "newGame" })),
      key("sound", "Sound of the game on or off", ["s"], () => {
        sounds.on = !sounds.on;
        storeSetting("game.sound", sounds.on);
        hud.sound(sounds.on);
      }),
      key("take", "Take the square", ["Enter", "Space"], () => take(cursor)),
      key("look", "Look at the board again", ["Home"], resetView),
      move("ArrowLeft", "to the left"),
      move("ArrowRight", "to the right"),
      move("ArrowUp", "above"),
      move("ArrowDown", "below"),
      ...SQUARES.map((square) =>
        key(`take${square + 1}`, `Take square ${square + 1}`, [String(square + 1)], () => take(square)),
      ),
    ],
    panel() {
      // The mode has no panel; everything lies over the stage.
    },
    overlay(host) {
      hud.element.classList.add("hidden");
      host.append(hud.element, emptyState.element);
    },
    enter() {
      active = true;
      viewBefore = stage.view;
      void enter();
    },
    leave,
  };
}

/** The seed in an address (`?seed=7`): the same clicks give the same game. */
export function seedOf(search: string): number | null {
  const given = new URLSearchParams(search).get("seed");
  const number = given?.trim() ? Number(given) : NaN;
  return Number.isInteger(number) && number >= 0 && number < 2 ** 31 ? number : null;
}
