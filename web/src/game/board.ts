/** The board on stage: the slab, the marks as they are drawn, what the pointer or the keyboard is at. */
import { Group } from "three";
import type { GameEvent, GameTable } from "../protocol/messages";
import type { Stage } from "../stage/api";
import { squareCentre, worldFromBoard } from "./board_view";
import { type MarkKind, type MarkLook, makeMark } from "./marks";
import { makeSlab } from "./slab";

const STROKE = 200; // ms to draw a mark
const GHOST = 0.3; // how much of a mark is seen before it is made
const FADED = 0.4; // and of those that did not decide the game
const SIZE = 0.94; // of a mark in its square
const ABOVE = 0.012; // squares: marks lie on the stone

type Made = ReturnType<typeof makeMark>;

interface Placed extends Made {
  kind: MarkKind;
  born: number; // ms
}

export interface Board {
  /** The game as it stands; marks that are new are drawn in. */
  show(game: GameEvent): void;
  /** The square where the player's mark would go, or null. */
  hover(square: number | null): void;
  /** The square that the keyboard is at, or null. */
  cursor(square: number | null): void;
  dispose(): void;
}

/** Puts a board on the stage. */
export function createBoard(stage: Stage, table: GameTable, still: boolean): Board {
  const root = new Group();
  root.matrixAutoUpdate = false;
  root.matrix.copy(worldFromBoard(table));
  root.matrixWorldNeedsUpdate = true;
  const size = table.width / 3;
  const drop = (table.centre[1] - table.ground) / size;
  const slab = makeSlab(table.lean, drop);
  slab.shadow.position.set(table.centre[0], table.ground + 0.002 * size, table.centre[2]);
  slab.shadow.scale.setScalar(size);
  const ghost = laid(makeMark("claw", 3), 0);
  const frame = laid(makeMark("frame", 0), 0);
  ghost.look.strength.value = GHOST;
  ghost.mesh.visible = frame.mesh.visible = false;
  root.add(slab.group, ghost.mesh, frame.mesh);
  stage.add(root);
  stage.add(slab.shadow);
  const marks = new Map<number, Placed>();
  let round = -1;
  let drawing = 0;

  function laid<M extends Made>(made: M, square: number): M {
    const [x, y] = squareCentre(square);
    made.mesh.position.set(x, y, ABOVE);
    made.mesh.scale.setScalar(SIZE);
    return made;
  }

  function discard(made: Made): void {
    root.remove(made.mesh);
    made.mesh.geometry.dispose();
    made.mesh.material.dispose();
  }

  function clear(): void {
    for (const mark of marks.values()) discard(mark);
    marks.clear();
  }

  function draw(now: number): void {
    drawing = 0;
    let more = false;
    for (const { look, born } of marks.values()) {
      const t = still ? 1 : Math.min(1, (now - born) / STROKE);
      look.stroke.value = t * (2 - t);
      more ||= t < 1;
    }
    stage.requestRender();
    if (more) drawing = requestAnimationFrame(draw);
  }

  function light(look: MarkLook, square: number, game: GameEvent): void {
    const decided = game.line.length > 0;
    const chosen = game.line.includes(square);
    look.lit.value = chosen ? 1 : 0;
    look.strength.value = decided && !chosen ? FADED : 1;
  }

  return {
    show(game) {
      if (game.round !== round || game.board.every((mark) => mark === "")) clear();
      const first = round === -1;
      round = game.round;
      game.board.forEach((kind, square) => {
        const have = marks.get(square);
        if (have && have.kind !== kind) {
          discard(have);
          marks.delete(square);
        }
        if (!kind) return;
        if (!marks.has(square)) {
          const made = laid(makeMark(kind, 1 + 1.7 * square + game.round), square);
          // what was there when the page came is not drawn again
          marks.set(square, { ...made, kind, born: first ? -STROKE : performance.now() });
          root.add(made.mesh);
        }
        light((marks.get(square) as Placed).look, square, game);
      });
      drawing ||= requestAnimationFrame(draw);
    },
    hover(square) {
      ghost.mesh.visible = square !== null;
      if (square !== null) laid(ghost, square);
      stage.requestRender();
    },
    cursor(square) {
      frame.mesh.visible = square !== null;
      if (square !== null) laid(frame, square).mesh.scale.setScalar(1);
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
