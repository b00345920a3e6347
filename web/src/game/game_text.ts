/** The texts of a game: squares, turns and results; also the squares that arrow keys lead to. */
import type { GameEvent } from "../protocol/messages";

export const SQUARES = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
const ROWS = ["top", "middle", "bottom"];
const COLUMNS = ["left", "centre", "right"];
const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

/** The character as part of a sentence: "the dragon". */
export function opponentName(game: Pick<GameEvent, "character">): string {
  return game.character ? `the ${game.character}` : "your opponent";
}

export function capitalise(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The accessible name of a square: "Top left, free". */
export function squareLabel(game: GameEvent, square: number): string {
  const place = `${ROWS[Math.floor(square / 3)]} ${COLUMNS[square % 3]}`;
  const mark = game.board[square];
  const whose = mark === "claw" ? "yours" : mark === "ember" ? `${opponentName(game)}'s` : "free";
  return `${capitalise(place)}, ${whose}${game.line.includes(square) ? ", in the winning line" : ""}`;
}

/** Whose turn it is, or the result. */
export function statusLine(game: GameEvent): string {
  if (game.result === "won") return "You win";
  if (game.result === "lost") return `${capitalise(opponentName(game))} wins`;
  if (game.result === "draw") return "A draw";
  return game.turn === "claw" ? "Your turn" : `${capitalise(opponentName(game))} is thinking`;
}

/** Whether the player may take a square now. */
export function mayTake(game: GameEvent | null, square: number): boolean {
  return game !== null && game.turn === "claw" && game.board[square] === "";
}

/** The square that an arrow key leads to, within the board. */
export function squareAfterKey(square: number, key: string): number {
  const [down, right] = STEPS[key] ?? [0, 0];
  const row = Math.min(2, Math.max(0, Math.floor(square / 3) + down));
  const column = Math.min(2, Math.max(0, (square % 3) + right));
  return 3 * row + column;
}
