/** What a game says to people: squares, turns and ends in words, and where the arrow keys lead. */
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

/** The name of a character as a sentence needs it: "the dragon". */
export function called(game: Pick<GameEvent, "character">): string {
  return game.character ? `the ${game.character}` : "your opponent";
}

export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** "Top left, free". */
export function squareLabel(game: GameEvent, square: number): string {
  const place = `${ROWS[Math.floor(square / 3)]} ${COLUMNS[square % 3]}`;
  const mark = game.board[square];
  const whose = mark === "claw" ? "yours" : mark === "ember" ? `${called(game)}'s` : "free";
  return `${capital(place)}, ${whose}${game.line.includes(square) ? ", in the winning line" : ""}`;
}

/** Whose move it is, or how it ended. */
export function statusLine(game: GameEvent): string {
  if (game.result === "won") return "You win";
  if (game.result === "lost") return `${capital(called(game))} wins`;
  if (game.result === "draw") return "A draw";
  return game.turn === "claw" ? "Your turn" : `${capital(called(game))} is thinking`;
}

/** Whether the player may take a square now. */
export function mayTake(game: GameEvent | null, square: number): boolean {
  return game !== null && game.turn === "claw" && game.board[square] === "";
}

/** The square that an arrow key leads to; at an edge it stays. */
export function stepped(square: number, key: string): number {
  const [down, right] = STEPS[key] ?? [0, 0];
  const row = Math.min(2, Math.max(0, Math.floor(square / 3) + down));
  const column = Math.min(2, Math.max(0, (square % 3) + right));
  return 3 * row + column;
}
