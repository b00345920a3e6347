/** Drags of selected keys and handles: move, stretch, turn. They begin with a press or with a key. */
import { snapToFrame } from "../../shell/ruler";
import { type HandlePlace, withHandle } from "./handles";
import type { Box, Edge } from "./hits";
import { type KeyDragContext, runKeyDrag, transformSelection } from "./key_change";
import { roomToMove, roomToStretch } from "./key_transform";
import { keyFactors } from "./lanes";
import { type KeyPlace, selectedKeys } from "./selection";
import type { Surface } from "./surface";
import { timeAt, valueAt, xAt, yAt } from "./view";

const MIN_ARM_PX = 40; // minimum distance from the playhead, by which a stretch is measured
const UNBOUNDED = { start: -1e9, stop: 1e9 };

export interface KeyDrags {
  move(down: PointerEvent | null, grabbed: KeyPlace, click?: () => void): void;
  /** Stretches by an edge of the box around the selection; the opposite edge stays. */
  stretch(down: PointerEvent, edge: Edge, box: Box): void;
  /** Stretches in time around a pivot, by the distance of the pointer. */
  stretchAround(time: number): void;
  turn(down: PointerEvent, handle: HandlePlace): void;
  /** The selected key nearest to a time. */
  nearest(time: number): KeyPlace | null;
}

/** The shift near a wanted one, and within its bounds, that moves a time onto a frame; 0 without one. */
export function snapShift(
  from: number,
  seconds: number,
  frame: number,
  [least, most]: readonly [number, number] = [-Infinity, Infinity],
): number {
  const [first, last] = [Math.ceil((from + least) / frame - 1e-4), Math.floor((from + most) / frame + 1e-4)];
  if (first > last) return 0;
  const shift = Math.min(last, Math.max(first, Math.round((from + seconds) / frame))) * frame - from;
  return Math.abs(shift) < 1e-3 * frame ? 0 : shift; // 0 except for rounding
}

export function createKeyDrags(surface: Surface, on: KeyDragContext): KeyDrags {
  const { model } = on;
  const frame = () => 1 / (model.state?.rate || 30);

  function stretchTimes(down: PointerEvent, edge: "left" | "right", box: Box): void {
    const { kept, selection } = model;
    const { view } = surface;
    const area = surface.area();
    const pivot = timeAt(view, area, edge === "left" ? box.right : box.left);
    const from = timeAt(view, area, box[edge]);
    const room = roomToStretch(selection, kept, pivot, frame());
    runKeyDrag(on, down, "ew-resize", (event, dx) => {
      let to = timeAt(view, area, box[edge] + dx);
      if (!event.ctrlKey) to = snapToFrame(to, 1 / frame(), UNBOUNDED);
      const s = Math.min(room[1], Math.max(room[0], (to - pivot) / (from - pivot)));
      return s > 0
        ? transformSelection(kept, selection, { time: [s, (1 - s) * pivot], scale: 1, offset: () => 0 })
        : null;
    });
  }

  function stretchValues(down: PointerEvent, edge: "top" | "bottom", box: Box): void {
    const { kept, selection } = model;
    const { view } = surface;
    const area = surface.area();
    const pivot = valueAt(view, area, edge === "top" ? box.bottom : box.top);
    const from = valueAt(view, area, box[edge]);
    runKeyDrag(on, down, "ns-resize", (_, __, dy) => {
      const r = (valueAt(view, area, box[edge] + dy) - pivot) / (from - pivot);
      const offset = (channel: number, column: number): number => {
        const lane = surface.laneOf(channel, column);
        return (1 - r) * (lane.offset + pivot / lane.scale);
      };
      return transformSelection(kept, selection, { time: [1, 0], scale: r, offset });
    });
  }

  return {
    /** The grabbed key snaps to frames, unless Ctrl is held; Shift restricts it to the longer of both directions. */
    move(down, grabbed, click) {
      const { kept, selection } = model;
      const { view } = surface;
      const area = surface.area();
      const room = roomToMove(selection, kept, frame());
      const from = kept[grabbed.channel].times[grabbed.key];
      runKeyDrag(
        on,
        down,
        "move",
        (event, dx, dy) => {
          const along = event.shiftKey && surface.upright ? Math.abs(dx) >= Math.abs(dy) : true;
          const up = surface.upright && !(event.shiftKey && along);
          let seconds = along ? (dx / area.width) * (view.stop - view.start) : 0;
          seconds =
            along && !event.ctrlKey
              ? snapShift(from, seconds, frame(), room)
              : Math.min(room[1], Math.max(room[0], seconds));
          const value = up ? -(dy / area.height) * (view.high - view.low) : 0;
          const offset = (channel: number, column: number) => value / surface.laneOf(channel, column).scale;
          return transformSelection(kept, selection, { time: [1, seconds], scale: 1, offset });
        },
        click,
      );
    },
    stretch(down, edge, box) {
      if (edge === "left" || edge === "right") stretchTimes(down, edge, box);
      else stretchValues(down, edge, box);
    },
    stretchAround(pivot) {
      const { kept, selection } = model;
      const room = roomToStretch(selection, kept, pivot, frame());
      const from =
        on.pointer().clientX - on.element.getBoundingClientRect().left - xAt(surface.view, surface.area(), pivot);
      const arm = Math.abs(from) < MIN_ARM_PX ? MIN_ARM_PX : from;
      runKeyDrag(on, null, "ew-resize", (_, dx) => {
        const s = Math.min(room[1], Math.max(room[0], (arm + dx) / arm));
        return s > 0
          ? transformSelection(kept, selection, { time: [s, (1 - s) * pivot], scale: 1, offset: () => 0 })
          : null;
      });
    },
    /** The end of the handle follows the pointer; with Alt the other side stays. */
    turn(down, handle) {
      const channel = model.kept[handle.channel];
      const factor = keyFactors(channel)[handle.key];
      const lane = surface.laneOf(handle.channel, handle.column);
      const { view } = surface;
      const area = surface.area();
      const at = handle.key * channel.columns.length + handle.column;
      const sign = handle.side === "before" ? -1 : 1;
      const shown =
        lane.scale * ((channel.values[at] + sign * channel[handle.side][2 * at + 1]) * factor - lane.offset);
      const end = {
        x: xAt(view, area, channel.times[handle.key] + sign * channel[handle.side][2 * at]),
        y: yAt(view, area, shown),
      };
      runKeyDrag(on, down, "grabbing", (event, dx, dy) => {
        const dt = timeAt(view, area, end.x + dx) - channel.times[handle.key];
        const value = (valueAt(view, area, end.y + dy) / lane.scale + lane.offset) / factor;
        return {
          shown: new Map([[handle.channel, withHandle(channel, handle, dt, value - channel.values[at], event.altKey)]]),
          transform: null,
        };
      });
    },
    nearest(time) {
      let best: KeyPlace | null = null;
      let least = Infinity;
      for (const [channel, flags] of model.selection) {
        const { times, columns } = model.kept[channel];
        selectedKeys(flags, columns.length).forEach((moved, key) => {
          if (!moved || Math.abs(times[key] - time) >= least) return;
          least = Math.abs(times[key] - time);
          best = { channel, column: -1, key };
        });
      }
      return best;
    },
  };
}
