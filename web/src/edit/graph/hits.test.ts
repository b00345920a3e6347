import { describe, expect, it } from "vitest";
import {
  edgeAt,
  GRIP_PX,
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
import { columnExtent, keyFactors, lanesOf, unitOfLanes } from "./lanes";
import { trace } from "./paths";
import { keySigns, sampleRow } from "./sampling";
import { EMPTY_SELECTION } from "./selection";
import { hermite, numbers } from "./test_channels";
import { fitToRange, panView, timeAt, valueAt, valueTicks, xAt, yAt, zoomView } from "./view";

const channel = hermite(
  "translation",
  ["x", "y"],
  [0, 1, 2, 4],
  [
    [0, 1],
    [1, 2],
    [3, 0],
    [2, 2],
  ],
  [
    [0, 1],
    [2, 0.5],
    [1, -1],
    [0, 0],
  ],
);
const area = { left: 40, top: 20, width: 800, height: 200 };
const graph = (channels = [channel], selection: Graph["selection"] = EMPTY_SELECTION): Graph => ({
  channels,
  lanes: lanesOf(
    channels,
    channels.map((_, i) => i),
    () => false,
    false,
  ),
  selection,
  view: { start: 0, stop: 4, low: -1, high: 4 },
  area,
});

describe("a view", () => {
  const { view } = graph();
  it("converts positions there and back", () => {
    expect(timeAt(view, area, xAt(view, area, 1.3))).toBeCloseTo(1.3, 12);
    expect(valueAt(view, area, yAt(view, area, 0.7))).toBeCloseTo(0.7, 12);
  });
  it("zooms around a fixed position", () => {
    const near = zoomView(view, 1, 2, 0.5, 0.25);
    expect(xAt(near, area, 1)).toBeCloseTo(xAt(view, area, 1), 9);
    expect(yAt(near, area, 2)).toBeCloseTo(yAt(view, area, 2), 9);
    expect(near.stop - near.start).toBeCloseTo(2, 12);
    expect(panView(view, 1, 2)).toEqual({ start: 1, stop: 5, low: 1, high: 6 });
  });
  it("fits empty ranges too, and has round ticks", () => {
    const flat = fitToRange({ start: 1, stop: 1 }, 5, 5);
    expect(flat.stop).toBeGreaterThan(flat.start);
    expect(flat.high).toBeGreaterThan(flat.low);
    expect(valueTicks(view, 200).map((tick) => tick.label)).toEqual(["-1", "0", "1", "2", "3", "4"]);
  });
});

describe("the pointer", () => {
  it("finds keys, handles of selected keys only, and curves", () => {
    const shown = graph();
    const factors = keyFactors(channel);
    const key = keyPoint(shown, shown.lanes[1], 2, factors);
    expect(keyAt(shown, key.x + 3, key.y - 3)).toEqual({ channel: 0, column: 1, key: 2 });
    expect(keyAt(shown, key.x + 12, key.y)).toBeNull();
    const place = { channel: 0, column: 1, key: 2, side: "before" as const };
    const handle = handlePoint(shown, shown.lanes[1], place, factors);
    expect(handleAt(shown, handle.x, handle.y)).toBeNull();
    const chosen = graph([channel], new Map([[0, Uint8Array.of(0, 0, 0, 0, 0, 1, 0, 0)]]));
    expect(handleAt(chosen, handle.x + 2, handle.y)).toEqual(place);
    expect(nearerHandle(chosen, place, handle.x + 2, handle.y)).toBe(true);
    expect(nearerHandle(chosen, place, key.x, key.y)).toBe(false);
    const middle = sampleRow(channel, 3, keySigns(channel), new Float64Array(2))[0];
    expect(laneAt(shown, xAt(shown.view, area, 3), yAt(shown.view, area, middle) + 2)).toEqual(shown.lanes[0]);
  });
  it("selects by a box, and finds the edges around a selection", () => {
    const shown = graph();
    const places = keysIn(shown, {
      left: xAt(shown.view, area, 0.5),
      right: xAt(shown.view, area, 2.5),
      top: yAt(shown.view, area, 2.5),
      bottom: yAt(shown.view, area, 0.5),
    });
    expect(places).toEqual([
      { channel: 0, column: 0, key: 1 },
      { channel: 0, column: 1, key: 1 },
    ]);
    const chosen = graph([channel], new Map([[0, Uint8Array.of(0, 0, 1, 1, 1, 1, 0, 0)]]));
    const box = selectionBox(chosen);
    expect(box?.left).toBeCloseTo(240, 6);
    expect(box?.right).toBeCloseTo(440, 6);
    if (!box) return;
    expect(edgeAt(box, 440 + GRIP_PX, (box.top + box.bottom) / 2, true)).toBe("right");
    expect(edgeAt(box, 300, box.top - GRIP_PX, true)).toBe("top");
    expect(edgeAt(box, 300, box.top - GRIP_PX, false)).toBeNull();
    expect(edgeAt(box, 300, (box.top + box.bottom) / 2, true)).toBeNull();
  });
});

/** A pen that records the points on its way, with many points for each Bezier. */
function recorder(): { points: { x: number; y: number }[]; calls: number } & Parameters<typeof trace>[2] {
  const points: { x: number; y: number }[] = [];
  const pen = {
    points,
    calls: 0,
    moveTo(x: number, y: number) {
      points.push({ x, y });
      pen.calls += 1;
    },
    lineTo(x: number, y: number) {
      points.push({ x, y });
      pen.calls += 1;
    },
    bezierCurveTo(ax: number, ay: number, bx: number, by: number, x: number, y: number) {
      const from = points[points.length - 1];
      pen.calls++;
      for (let i = 1; i <= 32; i++) {
        const s = i / 32;
        const m = 1 - s;
        const mix = (p: number, q: number, r: number, t: number) =>
          m ** 3 * p + 3 * m * m * s * q + 3 * m * s * s * r + s ** 3 * t;
        points.push({ x: mix(from.x, ax, bx, x), y: mix(from.y, ay, by, y) });
      }
    },
  };
  return pen;
}

describe("the drawn curve", () => {
  it("is the evaluated one, for columns and for quaternions", () => {
    const random = numbers(5);
    const quaternions = Array.from({ length: 6 }, () => {
      const q = [random() - 0.5, random() - 0.5, random() - 0.5, 1];
      return q.map((value) => value / Math.hypot(...q));
    });
    const turn = hermite(
      "rotation",
      ["x", "y", "z", "w"],
      [0, 0.5, 1, 2, 3, 4],
      quaternions,
      quaternions.map(() => [1, -1, 0.5, 0]),
    );
    const shown = graph([channel, turn]);
    for (const lane of shown.lanes) {
      const pen = recorder();
      trace(shown, lane, pen);
      const which = shown.channels[lane.channel];
      const signs = keySigns(which);
      const row = new Float64Array(which.columns.length);
      for (const { x, y } of pen.points) {
        const value = sampleRow(which, timeAt(shown.view, area, x), signs, row)[lane.column];
        expect(Math.abs(yAt(shown.view, area, value) - y)).toBeLessThan(1e-6);
      }
    }
  });
  it("has as many strokes as pixels if keys are dense, and passes the extremes", () => {
    const random = numbers(6);
    const times = Array.from({ length: 5000 }, (_, k) => (4 * k) / 4999);
    const many = hermite(
      "translation",
      ["x"],
      times,
      times.map(() => [random()]),
      times.map(() => [0]),
    );
    const shown = graph([many]);
    const pen = recorder();
    trace(shown, shown.lanes[0], pen);
    expect(pen.calls).toBeLessThan(2 * 801 + 4);
    const [low, high] = columnExtent(many, 0);
    expect(Math.min(...pen.points.map((point) => point.y))).toBeCloseTo(yAt(shown.view, area, high), 9);
    expect(Math.max(...pen.points.map((point) => point.y))).toBeCloseTo(yAt(shown.view, area, low), 9);
  });
});

describe("lanes", () => {
  it("show degrees, share a unit or none, and can be normalised", () => {
    const euler = hermite(
      "euler",
      ["z", "x", "y"],
      [0, 1],
      [
        [0, 0, 0],
        [Math.PI, 1, 2],
      ],
    );
    const [lane] = lanesOf([euler], [0], (_, column) => column > 0, false);
    expect(lane.scale * Math.PI).toBeCloseTo(180, 9);
    expect(unitOfLanes([euler], [lane])).toBe("°");
    expect(
      unitOfLanes(
        [euler, channel],
        lanesOf([euler, channel], [0, 1], () => false, false),
      ),
    ).toBe("");
    const [normal] = lanesOf([channel], [0], () => false, true);
    const [low, high] = columnExtent(channel, 0);
    expect(normal.scale * (low - normal.offset)).toBeCloseTo(-1, 9);
    expect(normal.scale * (high - normal.offset)).toBeCloseTo(1, 9);
  });
});
