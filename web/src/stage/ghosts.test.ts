import { describe, expect, it } from "vitest";
import { HEADER } from "./frames";
import { ghostFrames } from "./ghosts";

describe("frames of ghosts", () => {
  it("are split into poses with their times", () => {
    const data = new ArrayBuffer(HEADER + 4 * (2 + 2 * 13));
    const view = new DataView(data);
    view.setUint32(24, 2, true);
    view.setUint32(28, 13, true);
    new Float32Array(data, HEADER).set([0.5, 1.5, ...Array.from({ length: 26 }, (_, i) => i)]);
    const frames = ghostFrames(data, { form: 1, bones: ["root"], weights: 1, vertices: 3 } as never);
    expect(frames.map(({ time, a, b, form }) => [time, a, b, form])).toEqual([
      [0.5, 1, 1, 1],
      [1.5, 1, 1, 1],
    ]);
    expect([...frames[1].values.subarray(0, 2)]).toEqual([13, 14]);
    expect(ghostFrames(data, { form: 2, bones: [], weights: 0, vertices: 4 } as never)[0].a).toBe(4);
  });
});
