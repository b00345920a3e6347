/**
 * The board on stage: the slab, the marks with their drawing animation, and the square of the pointer or the keyboard.
 */
import { Group } from "three";
import type { GameEvent, GameTable } from "../protocol/messages";
import type { Stage } from "../stage/api";
import { squareCentre, worldFromBoard } from "./board_view";
import { type MarkKind, type MarkLook, makeMark } from "./marks";
import { makeSlab } from "./slab";

const STROKE_MS = 200; // duration of drawing a mark
const GHOST_STRENGTH = 0.3; // opacity of the mark under the pointer
const FADED_STRENGTH = 0.4; // opacity of the marks outside the winning line
const MARK_SIZE = 0.94; // of a mark, relative to its square
const MARK_HEIGHT = 0.012; // above the stone, in squares

type Mark = ReturnType<typeof makeMark>;

interface PlacedMark extends Mark {
  kind: MarkKind;
  drawnAt: number; // ms
}

export interface Board {
  /** Shows the state of the game; new marks are animated. */
  show(game: GameEvent): void;
  /** Shows the player's mark on a free square, or hides it. */
  hover(square: number | null): void;
  /** Shows the square of the keyboard cursor, or hides it. */
  cursor(square: number | null): void;
  dispose(): void;
}

/** Puts a board on the stage. */
export function createBoard(stage: Stage, table: GameTable, reducedMotion: boolean): Board {
  const root = new Group();
  root.matrixAutoUpdate = false;
  root.matrix.copy(worldFromBoard(table));
  root.matrixWorldNeedsUpdate = true;
  const size = table.width / 3;
  const drop = (table.centre[1] - table.ground) / size;
  const slab = makeSlab(table.lean, drop);
  slab.shadow.position.set(table.centre[0], table.ground + 0.002 * size, table.centre[2]);
  slab.shadow.scale.setScalar(size);
  const ghost = placeMark(makeMark("claw", 3), 0);
  const frame = placeMark(makeMark("frame", 0), 0);
  ghost.look.strength.value = GHOST_STRENGTH;
  ghost.mesh.visible = frame.mesh.visible = false;
  root.add(slab.group, ghost.mesh, frame.mesh);
  stage.add(root);
  stage.add(slab.shadow);
  const marks = new Map<number, PlacedMark>();
  let round = -1;
  let drawing = 0;

  function placeMark<M extends Mark>(made: M, square: number): M {
    const [x, y] = squareCentre(square);
    made.mesh.position.set(x, y, MARK_HEIGHT);
    made.mesh.scale.setScalar(MARK_SIZE);
    return made;
  }

  function discard(mark: Mark): void {
    root.remove(mark.mesh);
    mark.mesh.geometry.dispose();
    mark.mesh.material.dispose();
  }

  function clear(): void {
    for (const mark of marks.values()) discard(mark);
    marks.clear();
  }

  function draw(now: number): void {
    drawing = 0;
    let more = false;
    for (const { look, drawnAt: born } of marks.values()) {
      const t = reducedMotion ? 1 : Math.min(1, (now - born) / STROKE_MS);
      look.stroke.value = t * (2 - t);
      more ||= t < 1;
    }
    stage.requestRender();
    if (more) drawing = requestAnimationFrame(draw);
  }

  function highlight(look: MarkLook, square: number, game: GameEvent): void {
    const decided = game.line.length > 0;
    const chosen = game.line.includes(square);
    look.lit.value = chosen ? 1 : 0;
    look.strength.value = decided && !chosen ? FADED_STRENGTH : 1;
  }

  return {
    show(game) {
      if (game.round !== round || game.board.every((mark) => mark === "")) clear();
      const first = round === -1;
      round = game.round;
      game.board.forEach((kind, square) => {
        const existing = marks.get(square);
        if (existing && existing.kind !== kind) {
          discard(existing);
          marks.delete(square);
        }
        if (!kind) return;
        if (!marks.has(square)) {
          const mark = placeMark(makeMark(kind, 1 + 1.7 * square + game.round), square);
          // Marks that exist when the page opens are not animated.
          marks.set(square, { ...mark, kind, drawnAt: first ? -STROKE_MS : performance.now() });
          root.add(mark.mesh);
        }
        highlight((marks.get(square) as PlacedMark).look, square, game);
      });
      drawing ||= requestAnimationFrame(draw);
    },
    hover(square) {
      ghost.mesh.visible = square !== null;
      if (square !== null) placeMark(ghost, square);
      stage.requestRender();
    },
    cursor(square) {
      frame.mesh.visible = square !== null;
      if (square !== null) placeMark(frame, square).mesh.scale.setScalar(1);
      stage.requestRender();
    },
    dispose() {
      cancelAnimationFrame(drawing);
      clear();
      discard(ghost);
      discard(frame);
      slab.dispose();
      stage.remove(root);
      stage.remove(slab.shadow);
    },
  };
}
