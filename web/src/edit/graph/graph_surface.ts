/** The graph as a surface: draws the chosen channels when something changed, and says what lies under the pointer. */
import { createDrawing, type DrawnSurface, type Own } from "./canvas_surface";
import { drawBase, drawTop, MOST_HANDLES, type Pointing } from "./graph_picture";
import {
  edgeAt,
  type Graph,
  handleAt,
  handlePoint,
  keyAt,
  keyPoint,
  keysIn,
  laneAt,
  nearerHandle,
  selectionBox,
} from "./hits";
import { keyFactors, unitOfLanes } from "./lanes";
import type { Model } from "./model";
import { RULER } from "./ruler_picture";
import { countKeys, type KeyPlace } from "./selection";
import type { SharedView } from "./shared_view";

export function createGraphSurface(model: Model, view: SharedView): DrawnSurface {
  let pointing: Pointing = {};
  const graph = (): Graph => ({
    channels: model.channels,
    lanes: model.lanes,
    selection: model.selection,
    view: view.value,
    area: drawing.area(),
  });
  const whole = () => ({ start: 0, stop: model.state?.seconds ?? 0 });
  const drawing = createDrawing(model, view, "Graph editor", "graph", {
    base: (paint, moving) =>
      drawBase(
        paint,
        graph(),
        moving,
        model.state?.rate ?? 30,
        whole(),
        model.normal ? "" : unitOfLanes(model.kept, model.lanes),
      ),
    top: (paint, moving) => drawTop(paint, graph(), moving, pointing),
  });

  const own: Own = {
    upright: true,
    hit(x, y) {
      const now = graph();
      if (y < RULER) return { kind: "ruler" };
      const handle = countKeys(now.selection, now.channels) <= MOST_HANDLES ? handleAt(now, x, y) : null;
      const key = keyAt(now, x, y);
      // A key lies above the handles of others; of its own short handles it is what the pointer is nearer to.
      const own = key !== null && handle !== null && key.channel === handle.channel && key.key === handle.key;
      if (handle && (!key || (own && nearerHandle(now, handle, x, y)))) return { kind: "handle", place: handle };
      if (key) return { kind: "keys", places: [key] };
      const box = selectionBox(now);
      const edge = box && edgeAt(box, x, y, true);
      if (box && edge) return { kind: "edge", edge, box };
      const lane = laneAt(now, x, y);
      if (!lane) return { kind: "empty" };
      const places = Array.from(
        now.channels[lane.channel].times,
        (_, number): KeyPlace => ({ channel: lane.channel, column: lane.column, key: number }),
      );
      return { kind: "curve", places, channel: lane.channel };
    },
    place(channel, column, key, side) {
      const now = graph();
      const lane = now.lanes.find((each) => each.channel === channel && each.column === column);
      if (!lane) return null;
      const factors = keyFactors(now.channels[channel]);
      return side ? handlePoint(now, lane, { channel, column, key, side }, factors) : keyPoint(now, lane, key, factors);
    },
    inBox: (box) => keysIn(graph(), box),
    point(next) {
      const same =
        pointing.box === next.box &&
        pointing.edge === next.edge &&
        JSON.stringify(pointing.key) === JSON.stringify(next.key);
      pointing = next;
      if (!same) drawing.draw(false);
    },
    laneOf: (channel, column) =>
      model.lanes.find((lane) => lane.channel === channel && lane.column === column) ?? { scale: 1, offset: 0 },
    scrollBy: () => undefined,
  };
  return Object.assign(drawing, own);
}
