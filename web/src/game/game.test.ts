import { PerspectiveCamera, Raycaster, Vector2, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import type { GameEvent, GameTable } from "../protocol/messages";
import { eyePosition, FOV_DEGREES } from "../stage/orbit";
import { boardView, hitBoard, squareCentre, squareCorners, worldFromBoard } from "./board_view";
import { mayTake, SQUARES, squareAfterKey, squareLabel, statusLine } from "./game_text";
import { seedOf } from "./mode";

const TABLE: GameTable = { centre: [0.1, 0.12, 0.55], width: 0.48, lean: 0.26, ground: 0.03, tall: 0.68 };
const GAME: GameEvent = {
  kind: "game",
  character: "dragon",
  board: ["claw", "", "ember", "", "", "", "", "", ""],
  turn: "claw",
  phase: "waiting",
  mood: "waiting",
  result: "",
  line: [],
  last: 2,
  strength: "drake",
  pace: 1,
  round: 0,
  player: 0,
  opponent: 0,
  draws: 0,
};

function camera(aspect: number): PerspectiveCamera {
  const view = boardView(TABLE, 680 * aspect, 680);
  const perspective = new PerspectiveCamera(FOV_DEGREES, aspect, 0.01, 100);
  perspective.position.copy(eyePosition(view));
  perspective.lookAt(...view.target);
  perspective.updateMatrixWorld();
  return perspective;
}

const middle = (square: number): Vector3 => new Vector3(...squareCentre(square), 0).applyMatrix4(worldFromBoard(TABLE));

describe("the board in the world", () => {
  it("leans towards the player, with its first row far away", () => {
    expect(middle(4).toArray()).toEqual(TABLE.centre.map((value) => expect.closeTo(value, 9)));
    expect(middle(1).y).toBeGreaterThan(middle(7).y);
    expect(middle(1).z).toBeLessThan(middle(7).z);
    expect(middle(3).x).toBeLessThan(middle(5).x);
    expect(middle(0).distanceTo(middle(2))).toBeCloseTo((2 / 3) * TABLE.width, 9);
  });

  it("is hit at each square", () => {
    const seen = camera(16 / 9);
    for (const square of SQUARES) {
      const caster = new Raycaster();
      const at = middle(square).project(seen);
      caster.setFromCamera(new Vector2(at.x, at.y), seen);
      const boardHit = hitBoard(caster.ray, TABLE);
      expect(boardHit?.square).toBe(square);
      expect(new Vector3(...(boardHit?.point ?? [0, 0, 0])).distanceTo(middle(square))).toBeLessThan(1e-6);
    }
  });

  it("is missed by other rays, and its rim is no square", () => {
    const seen = camera(16 / 9);
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2(0, 0.95), seen);
    expect(hitBoard(caster.ray, TABLE)).toBeNull();
    const rim = new Vector3(1.7, 0, 0).applyMatrix4(worldFromBoard(TABLE)).project(seen);
    caster.setFromCamera(new Vector2(rim.x, rim.y), seen);
    expect(hitBoard(caster.ray, TABLE)?.square).toBeNull();
  });

  it.each([4 / 3, 16 / 9, 21 / 9, 3 / 4])("is seen whole in a picture of %f", (aspect) => {
    const seen = camera(aspect);
    for (const square of SQUARES) {
      for (const corner of squareCorners(TABLE, square)) {
        const at = new Vector3(...corner).project(seen);
        expect(Math.abs(at.x)).toBeLessThan(0.98);
        expect(Math.abs(at.y)).toBeLessThan(0.98);
      }
    }
  });
});

describe("the game in words", () => {
  it("names squares by place and owner", () => {
    expect(SQUARES.map((square) => squareLabel(GAME, square))).toEqual([
      "Top left, yours",
      "Top centre, free",
      "Top right, the dragon's",
      "Middle left, free",
      "Middle centre, free",
      "Middle right, free",
      "Bottom left, free",
      "Bottom centre, free",
      "Bottom right, free",
    ]);
    expect(squareLabel({ ...GAME, line: [0, 4, 8] }, 0)).toContain("winning line");
  });

  it("says whose turn it is, and how it ended", () => {
    expect(statusLine(GAME)).toBe("Your turn");
    expect(statusLine({ ...GAME, turn: "ember" })).toBe("The dragon is thinking");
    expect(statusLine({ ...GAME, turn: "", result: "won" })).toBe("You win");
    expect(statusLine({ ...GAME, turn: "", result: "lost" })).toBe("The dragon wins");
    expect(statusLine({ ...GAME, turn: "", result: "draw" })).toBe("A draw");
  });

  it("lets the player take free squares only in their turn", () => {
    expect(SQUARES.filter((square) => mayTake(GAME, square))).toEqual([1, 3, 4, 5, 6, 7, 8]);
    expect(SQUARES.some((square) => mayTake({ ...GAME, turn: "ember" }, square))).toBe(false);
    expect(mayTake(null, 4)).toBe(false);
  });

  it("moves by arrows and stays at the edges", () => {
    for (const [key, back] of [
      ["ArrowLeft", "ArrowRight"],
      ["ArrowUp", "ArrowDown"],
    ]) {
      expect(squareAfterKey(squareAfterKey(4, key), back)).toBe(4);
      const edge = squareAfterKey(squareAfterKey(4, key), key);
      expect(squareAfterKey(edge, key)).toBe(edge);
    }
    expect(squareAfterKey(0, "ArrowUp")).toBe(0);
    expect(squareAfterKey(8, "ArrowRight")).toBe(8);
    expect(squareAfterKey(4, "x")).toBe(4);
  });
});

it("parses a seed in an address, and nothing else", () => {
  expect(seedOf("?seed=7")).toBe(7);
  for (const wrong of ["", "?seed=", "?seed=-1", "?seed=1.5", "?seed=x", "?seed=9999999999"])
    expect(seedOf(wrong)).toBeNull();
});
