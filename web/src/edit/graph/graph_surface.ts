/** The graph as a surface: draws the chosen channels, and finds what lies under the pointer. */
import { type CanvasSurface, createSurfaceDrawing, type SurfaceMethods } from "./canvas_surface";
import { drawBase, drawTop, MAX_HANDLES, type PointerState } from "./graph_picture";
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
import { RULER_PX } from "./ruler_picture";
import { countKeys, type KeyPlace } from "./selection";
import type { SharedView } from "./shared_view";

export function createGraphSurface(model: Model, view: SharedView): CanvasSurface {
  let pointerState: PointerState = {};
  const graph = (): Graph => ({
    channels: model.channels,
    lanes: model.lanes,
    selection: model.selection,
    view: view.value,
    area: drawing.area(),
  });
  const whole = () => ({ start: 0, stop: model.state?.seconds ?? 0 });
  const drawing = createSurfaceDrawing(model, view, "Graph editor", "graph", {
    base: (paint, moving) =>
      drawBase(
        paint,
        graph(),
        moving,
        model.state?.rate ?? 30,
        whole(),
        model.normal ? "" : unitOfLanes(model.kept, model.lanes),
      ),
    top: (paint, moving) => drawTop(paint, graph(), moving, pointerState),
  });

  const methods: SurfaceMethods = {
    upright: true,
    hit(x, y) {
      const now = graph();
      if (y < RULER_PX) return { kind: "ruler" };
      const handle = countKeys(now.selection, now.channels) <= MAX_HANDLES ? handleAt(now, x, y) : null;
      const key = keyAt(now, x, y);
      // A key lies above the handles of other keys; of a key and its own short handle the nearer one wins.
      const isOwnHandle = key !== null && handle !== null && key.channel === handle.channel && key.key === handle.key;
      if (handle && (!key || (isOwnHandle && nearerHandle(now, handle, x, y))))
        return { kind: "handle", place: handle };
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
      const lane = now.lanes.find((candidate) => candidate.channel === channel && candidate.column === column);
      if (!lane) return null;
      const factors = keyFactors(now.channels[channel]);
      return side ? handlePoint(now, lane, { channel, column, key, side }, factors) : keyPoint(now, lane, key, factors);
    },
    keysInBox: (box) => keysIn(graph(), box),
    setPointer(next) {
      const same =
        pointerState.box === next.box &&
        pointerState.edge === next.edge &&
        JSON.stringify(pointerState.key) === JSON.stringify(next.key);
      pointerState = next;
      if (!same) drawing.draw(false);
    },
    laneOf: (channel, column) =>
      model.lanes.find((lane) => lane.channel === channel && lane.column === column) ?? { scale: 1, offset: 0 },
    scrollBy: () => undefined,
  };
  return Object.assign(drawing, methods);
}
