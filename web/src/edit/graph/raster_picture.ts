/** Many lanes drawn through a raster, and laid onto the canvas as one image. */
import { type Graph, keysBetween, pixelScales } from "./hits";
import { keyFactors, type Lane } from "./lanes";
import type { Paint } from "./layers";
import { type Samples, trace } from "./paths";
import { packed, Raster } from "./raster";

export const MANY = 16; // lanes: beyond that strokes of the canvas are slower than pictures come
const CLOSEST = 5; // px between two keys that are drawn both

let kept: { canvas: HTMLCanvasElement; image: ImageData } | null = null;

/** Runs `draw` on an empty raster of the graph's area, and lays it onto the canvas. */
export function rastered(paint: Paint, graph: Graph, draw: (raster: Raster, local: Graph) => void): void {
  const scale = paint.getTransform().a;
  const { area } = graph;
  const [width, height] = [Math.max(1, Math.round(area.width * scale)), Math.max(1, Math.round(area.height * scale))];
  if (kept?.image.width !== width || kept.image.height !== height) {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    kept = { canvas, image: new ImageData(width, height) };
  } else kept.image.data.fill(0);
  const raster = new Raster(width, height, scale, kept.image.data.buffer as ArrayBuffer);
  draw(raster, { ...graph, area: { left: 0, top: 0, width: area.width, height: area.height } });
  kept.canvas.getContext("2d", { willReadFrequently: true })?.putImageData(kept.image, 0, 0);
  paint.drawImage(kept.canvas, area.left, area.top, area.width, area.height);
}

/** Curves and keys of lanes. */
export function drawMany(paint: Paint, graph: Graph, lanes: readonly Lane[]): void {
  rastered(paint, graph, (raster, local) => {
    const large = { ...local, area: { left: 0, top: 0, width: raster.width, height: raster.height } };
    const samples: Samples = new Map();
    for (const lane of lanes) {
      raster.profile.clear();
      trace(large, lane, raster.profile, samples);
      raster.paint(packed(lane.colour), 0.8);
    }
    for (const lane of lanes) stampKeys(raster, local, lane, 3, () => true, lane.colour);
  });
}

/** Keys of a lane for which a test holds; none where there are more than pixels, unless `always`. */
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
  const dense = local.area.width / Math.max(1, last - first) < CLOSEST / 2;
  if (dense && !always) return;
  const { times, values, columns } = local.channels[lane.channel];
  const factors = keyFactors(local.channels[lane.channel]);
  const { xScale, xZero, yScale, yZero } = pixelScales(local, lane);
  const ink = packed(colour);
  let x = -Infinity;
  let y = -Infinity;
  for (let key = first; key < last; key++) {
    if (!holds(key)) continue;
    const atX = xScale * times[key] + xZero;
    const atY = yScale * values[key * columns.length + lane.column] * factors[key] + yZero;
    if (Math.abs(atX - x) < CLOSEST && (dense || Math.abs(atY - y) < CLOSEST)) continue;
    x = atX;
    y = atY;
    raster.stamp(x, y, half, ink);
  }
}
