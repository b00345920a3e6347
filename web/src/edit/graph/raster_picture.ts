/** Draws many lanes through a raster, and copies it onto the canvas as one image. */
import { type Graph, keysBetween, pixelScales } from "./hits";
import { keyFactors, type Lane } from "./lanes";
import type { Paint } from "./layers";
import { type Samples, trace } from "./paths";
import { packColour, Raster } from "./raster";

export const MAX_STROKED_LANES = 16; // more canvas strokes are too slow
const MIN_KEY_DISTANCE_PX = 5; // between two drawn keys

let cachedImage: { canvas: HTMLCanvasElement; image: ImageData } | null = null;

/** Runs `draw` on an empty raster of the graph's area, and copies it onto the canvas. */
export function drawRastered(paint: Paint, graph: Graph, draw: (raster: Raster, local: Graph) => void): void {
  const scale = paint.getTransform().a;
  const { area } = graph;
  const [width, height] = [Math.max(1, Math.round(area.width * scale)), Math.max(1, Math.round(area.height * scale))];
  if (cachedImage?.image.width !== width || cachedImage.image.height !== height) {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    cachedImage = { canvas, image: new ImageData(width, height) };
  } else cachedImage.image.data.fill(0);
  const raster = new Raster(width, height, scale, cachedImage.image.data.buffer as ArrayBuffer);
  draw(raster, { ...graph, area: { left: 0, top: 0, width: area.width, height: area.height } });
  cachedImage.canvas.getContext("2d", { willReadFrequently: true })?.putImageData(cachedImage.image, 0, 0);
  paint.drawImage(cachedImage.canvas, area.left, area.top, area.width, area.height);
}

/** Draws curves and keys of lanes. */
export function drawManyLanes(paint: Paint, graph: Graph, lanes: readonly Lane[]): void {
  drawRastered(paint, graph, (raster, local) => {
    const large = { ...local, area: { left: 0, top: 0, width: raster.width, height: raster.height } };
    const samples: Samples = new Map();
    for (const lane of lanes) {
      raster.profile.clear();
      trace(large, lane, raster.profile, samples);
      raster.paint(packColour(lane.colour), 0.8);
    }
    for (const lane of lanes) stampKeys(raster, local, lane, 3, () => true, lane.colour);
  });
}

/** Draws the keys of a lane that pass a test; none if there are more keys than pixels, unless `always`. */
export function stampKeys(
  raster: Raster,
  local: Graph,
  lane: Lane,
  half: number,
  holds: (key: number) => boolean,
  colour: string,
  always = false,
): void {
  const [first, last] = keysBetween(local, lane.channel, -6, local.area.width + 6);
  const dense = local.area.width / Math.max(1, last - first) < MIN_KEY_DISTANCE_PX / 2;
  if (dense && !always) return;
  const { times, values, columns } = local.channels[lane.channel];
  const factors = keyFactors(local.channels[lane.channel]);
  const { xScale, xZero, yScale, yZero } = pixelScales(local, lane);
  const ink = packColour(colour);
  let x = -Infinity;
  let y = -Infinity;
  for (let key = first; key < last; key++) {
    if (!holds(key)) continue;
    const atX = xScale * times[key] + xZero;
    const atY = yScale * values[key * columns.length + lane.column] * factors[key] + yZero;
    if (Math.abs(atX - x) < MIN_KEY_DISTANCE_PX && (dense || Math.abs(atY - y) < MIN_KEY_DISTANCE_PX)) continue;
    x = atX;
    y = atY;
    raster.stamp(x, y, half, ink);
  }
}
