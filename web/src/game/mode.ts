/**
 * The play mode: tic-tac-toe against the character on stage. The game is the server's; here it is drawn and pointed at.
 */
import "./game.css";
import type { Context } from "../context";
import type { Command, Mode } from "../modes/mode";
import { Refused } from "../protocol/connection";
import type { GameEntered, GameEvent, GameStrength } from "../protocol/messages";
import { remember, remembered } from "../shell/settings";
import type { View } from "../stage/api";
import { type Board, createBoard } from "./board";
import { createPointing } from "./board_pointer";
import { corners, viewOf } from "./board_view";
import { createTeaching } from "./empty_state";
import { mayTake, SQUARES, stepped } from "./game_text";
import { createHud, QUICK } from "./hud";
import { createSounds, type SoundName } from "./sound";

const HINT = "Click a square, or press 1 to 9. Three in a line wins.";
const ENDS: Record<string, SoundName> = { won: "growl", lost: "chime", draw: "sigh" };

export function gameMode(context: Context): Mode {
  const { stage, connection, store, notices } = context;
  const sounds = createSounds(remembered("game.sound", false));
  const teaching = createTeaching(context);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let active = false;
  let entering = false;
  let entered: GameEntered | null = null;
  let game: GameEvent | null = null;
  let board: Board | null = null;
  let before: View | null = null; // the view of the mode that was left
  let own: View | null = null; // the game's, until somebody turns the camera
  let laid = ""; // the view that the squares of the page were laid out for
  let cursor = 4;
  let seed = seedOf(location.search);

  const hud = createHud({
    newGame: () => ask({ kind: "newGame" }),
    strength(name) {
      remember("game.strength", name);
      ask({ kind: "newGame", strength: name });
    },
    pace(pace) {
      remember("game.quick", pace < 1);
      ask({ kind: "paceGame", pace });
    },
    sound(on) {
      sounds.on = on;
      remember("game.sound", on);
      hud.sound(on);
    },
    take,
    at: (square) => atKey(square),
  });
  hud.sound(sounds.on);
  const pointing = createPointing(context, {
    table: () => entered?.table ?? null,
    over(square) {
      const free = square !== null && mayTake(game, square);
      board?.cursor(null);
      board?.hover(free ? square : null);
      stage.canvas.style.cursor = free ? "pointer" : "";
    },
    click: take,
  });

  function ask(message: Parameters<typeof connection.request>[0]): void {
    connection.request(message).catch(notices.failed);
  }

  /** A refusal is the character's to show; it is said for those who cannot see it. */
  function take(square: number): void {
    if (!game) return;
    cursor = square;
    board?.hover(null);
    remember("game.hinted", true);
    connection.request({ kind: "placeMark", square }).catch((reason: unknown) => {
      if (reason instanceof Refused) hud.say(reason.sentence);
      else notices.failed(reason);
    });
  }

  function atKey(square: number | null): void {
    if (square !== null) cursor = square;
    board?.hover(null);
    board?.cursor(square);
  }

  async function enter(): Promise<void> {
    teaching.refresh();
    if (!active || entering || entered || !store.document?.models.length) return;
    entering = true;
    try {
      const strength = remembered<string>("game.strength", "fledgling") as GameStrength["name"];
      const found = await connection.request({
        kind: "enterGame",
        strength,
        pace: remembered("game.quick", false) ? QUICK : 1,
        seed,
      });
      seed = null;
      if (active) begin(found);
    } catch (reason) {
      notices.failed(reason);
    } finally {
      entering = false;
    }
  }

  function begin(found: GameEntered): void {
    entered = found;
    board?.dispose();
    board = createBoard(stage, found.table, still);
    look();
    hud.element.classList.remove("hidden");
    pointing.awake = true;
    show(found.game);
  }

  /** The game's own view; whoever turns the camera keeps theirs. */
  function look(): void {
    if (!entered) return;
    stage.view = own = viewOf(entered.table, stage.canvas.clientWidth, stage.canvas.clientHeight);
  }

  stage.onSeen(() => {
    if (!active || !entered) return;
    const view = stage.view;
    // a character that comes on stage is framed by itself: then the board is brought into view again
    if (own && Math.abs(view.distance - own.distance) > 1e-6) look();
    const { clientWidth, clientHeight } = stage.canvas;
    const key = JSON.stringify([view, clientWidth, clientHeight]);
    if (key === laid) return;
    laid = key;
    const { table } = entered;
    hud.place(SQUARES.map((square) => corners(table, square).map((point) => stage.project(point))));
  });
  stage.canvas.addEventListener("wheel", () => (own = null), { passive: true });
  stage.canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) own = null;
  });

  function show(next: GameEvent): void {
    const last = game;
    game = next;
    board?.show(next);
    hud.show(next, entered?.strengths ?? []);
    hud.hint(remembered("game.hinted", false) || next.board.some(Boolean) ? null : HINT);
    if (last && next.round === last.round) hear(last, next);
    if (!mayTake(next, cursor)) board?.hover(null);
  }

  function hear(last: GameEvent, next: GameEvent): void {
    const fresh = next.board.findIndex((mark, square) => mark !== "" && last.board[square] === "");
    if (fresh >= 0) sounds.play(next.board[fresh] === "claw" ? "scratch" : "flare");
    if (next.phase !== last.phase && next.phase in { lost: 0, won: 0, draw: 0 }) sounds.play(ENDS[next.result]);
  }

  function leave(): void {
    active = false;
    pointing.awake = false;
    board?.dispose();
    board = null;
    entered = game = null;
    hud.element.classList.add("hidden");
    connection.tell({ kind: "leaveGame" });
    own = null;
    if (before) stage.view = before;
  }

  connection.on("game", (event) => {
    if (active && entered) show(event);
  });
  store.onDocument(() => void enter());
  store.onHello(() => {
    entered = null; // the server may be another one: ask it how the game stands
    void enter();
  });
  window.addEventListener("resize", () => active && own && look());

  const key = (id: string, title: string, keys: string[], run: () => void): Command => ({
    id: `game.${id}`,
    title,
    keys,
    enabled: () => game !== null,
    run,
  });
  const move = (name: string, words: string): Command =>
    key(`move${name}`, `Go to the square ${words}`, [name], () => atKey(board ? stepped(cursor, name) : null));
  return {
    id: "play",
    title: "Play",
    hidesDocks: true,
    commands: [
      key("new", "New game", ["n"], () => ask({ kind: "newGame" })),
      key("sound", "Sound of the game on or off", ["s"], () => {
        sounds.on = !sounds.on;
        remember("game.sound", sounds.on);
        hud.sound(sounds.on);
      }),
      key("take", "Take the square", ["Enter", "Space"], () => take(cursor)),
      key("look", "Look at the board again", ["Home"], look),
      move("ArrowLeft", "to the left"),
      move("ArrowRight", "to the right"),
      move("ArrowUp", "above"),
      move("ArrowDown", "below"),
      ...SQUARES.map((square) =>
        key(`take${square + 1}`, `Take square ${square + 1}`, [String(square + 1)], () => take(square)),
      ),
    ],
    panel() {
      // all of it lies over the stage
    },
    overlay(host) {
      hud.element.classList.add("hidden");
      host.append(hud.element, teaching.element);
    },
    enter() {
      active = true;
      before = stage.view;
      void enter();
    },
    leave,
  };
}

/** The seed that an address asks for (`?seed=7`): the same clicks make the same game. */
export function seedOf(search: string): number | null {
  const given = new URLSearchParams(search).get("seed");
  const number = given?.trim() ? Number(given) : NaN;
  return Number.isInteger(number) && number >= 0 && number < 2 ** 31 ? number : null;
}
