/** The position of the board in the world, and the view that shows the board and the character. */
import { Matrix4, Plane, type Ray, Vector3 } from "three";
import type { GameTable } from "../protocol/messages";
import type { View } from "../stage/api";
import { FOV_DEGREES } from "../stage/orbit";

const AZIMUTH = 0.16; // radians; a little from the side
const ELEVATION = 0.38; // radians; shows both the board and the face
// Free pixels for the texts, and their largest share of the canvas.
const MARGIN = { top: 58, bottom: 92, most: 0.22, side: 0.08 };

/**
 * The matrix world_from_board: x to the right, y up the board, z out of it; the nine squares are 3 x 3 units around its
 * centre.
 */
export function worldFromBoard(table: GameTable): Matrix4 {
  const size = table.width / 3;
  const tilt = new Matrix4().makeRotationX(table.lean - Math.PI / 2);
  return new Matrix4()
    .makeTranslation(...table.centre)
    .multiply(tilt)
    .scale(new Vector3(size, size, size));
}

/** The centre of a square on the board, in squares. */
export function squareCentre(square: number): [number, number] {
  return [(square % 3) - 1, 1 - Math.floor(square / 3)];
}

/** The corners of a square in the world. */
export function squareCorners(table: GameTable, square: number): [number, number, number][] {
  const world = worldFromBoard(table);
  const [x, y] = squareCentre(square);
  const around = [
    [-0.5, -0.5],
    [0.5, -0.5],
    [0.5, 0.5],
    [-0.5, 0.5],
  ];
  return around.map(([dx, dy]) => new Vector3(x + dx, y + dy, 0).applyMatrix4(world).toArray());
}

export interface Hit {
  square: number | null; // null outside of the squares
  point: [number, number, number]; // on the board, in world space
}

/** Where a ray meets the board; null if it misses by more than half a square. */
export function hitBoard(ray: Ray, table: GameTable): Hit | null {
  const world = worldFromBoard(table);
  const normal = new Vector3(0, 0, 1).transformDirection(world);
  const plane = new Plane().setFromNormalAndCoplanarPoint(normal, new Vector3(...table.centre));
  const point = ray.intersectPlane(plane, new Vector3());
  if (!point) return null;
  const { x, y } = point.clone().applyMatrix4(world.invert());
  if (Math.max(Math.abs(x), Math.abs(y)) > 2) return null;
  const column = Math.floor(x + 1.5);
  const row = Math.floor(1.5 - y);
  const inside = column >= 0 && column < 3 && row >= 0 && row < 3;
  return { square: inside ? 3 * row + column : null, point: [point.x, point.y, point.z] };
}

/** The nearest view that shows the character and the board on a canvas of this size, with room for the texts. */
export function boardView(table: GameTable, across: number, down: number): View {
  const [x, y, z] = table.centre;
  const { width, lean } = table;
  const edge = 0.62 * width;
  const near: [number, number] = [y - edge * Math.sin(lean), z + edge * Math.cos(lean)];
  const top: [number, number] = [table.ground + 1.15 * table.tall, z - 0.85 * width];
  const [sin, cos] = [Math.sin(ELEVATION), Math.cos(ELEVATION)];
  const up = ([h, d]: [number, number]): number => h * cos - d * sin;
  const toward = ([h, d]: [number, number]): number => h * sin + d * cos;
  const slope = Math.tan((FOV_DEGREES * Math.PI) / 360);
  // u grows upwards in the image; both ends fill the height between the margins.
  const [low, high] = [up(near), up(top)];
  const [nearest, farthest] = [toward(near), toward(top)];
  const [below, above] = [MARGIN.bottom, MARGIN.top].map(
    (pixels) => 1 - 2 * Math.min(pixels / Math.max(1, down), MARGIN.most),
  );
  // low + slope (D - nearest) below = middle = high - slope (D - farthest) above, with the camera at D.
  const distance = ((high - low) / slope + nearest * below + farthest * above) / (below + above);
  const middle = low + slope * (distance - nearest) * below;
  const sides = (0.75 * width) / (slope * (across / Math.max(1, down)) * (1 - 2 * MARGIN.side)) + nearest;
  const away = Math.max(distance, sides);
  // The target lies on the axis between both, so neither moves aside when the camera turns.
  const depth = (nearest + farthest) / 2;
  return {
    target: [x, middle * cos + depth * sin, depth * cos - middle * sin],
    azimuth: AZIMUTH,
    elevation: ELEVATION,
    distance: away - depth,
  };
}
