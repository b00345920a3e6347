import { describe, expect, it } from "vitest";
import { FORM, parseFrame } from "../stage/frames";
import { Poses, sumDifferences, unpack } from "./payload";
import { Playback } from "./playback";

describe("payload", () => {
  it("unpacks what Python packs", async () => {
    const packed = "eJxLVEjOSCxKTC5JLQIAF40ELw=="; // base64.b64encode(zlib.compress(b"a character"))
    expect(new TextDecoder().decode(await unpack(packed))).toBe("a character");
  });

  it("makes frames of joints that the stage reads", () => {
    const values = Float32Array.from({ length: 26 }, (_, i) => i);
    const poses = new Poses({ rate: 10, frames: 2, form: FORM.joints, a: 1, b: 1, range: null }, values.buffer);
    const frame = parseFrame(poses.frame(1))!;
    expect(frame).toMatchObject({ stream: 0, sequence: 1, form: FORM.joints, time: 0.1, a: 1, b: 1 });
    expect([...frame.values]).toEqual([...values.subarray(13)]);
  });

  it("sums differences modulo 65536", () => {
    const frames = [
      [1, 65535, 300],
      [0, 2, 40000],
    ];
    const differences = [...frames[0], ...frames[1].map((value, i) => (value - frames[0][i] + 65536) % 65536)];
    const bytes = Uint8Array.from([...differences.map((d) => d & 255), ...differences.map((d) => d >> 8)]);
    expect([...sumDifferences(bytes, 2)]).toEqual(frames.flat());
    const range = { low: [0, -1, 0] as [number, number, number], high: [1, 1, 2] as [number, number, number] };
    const poses = new Poses({ rate: 10, frames: 2, form: FORM.vertices, a: 1, b: 0, range }, bytes.buffer);
    const values = parseFrame(poses.frame(0))!.values;
    expect(values[1]).toBe(1); // the highest step is the upper end of the range
    expect(values[2]).toBeCloseTo((2 * 300) / 65535, 6);
  });
});

describe("playback", () => {
  it("loops through the last frame to the first", () => {
    const playback = new Playback(11, 10);
    playback.toggle();
    playback.advance(1.05);
    expect(playback.frame).toBe(10);
    playback.advance(0.1);
    expect(playback.frame).toBe(0);
    expect(playback.playing).toBe(true);
  });

  it("ends at the last frame without a loop, and then begins again", () => {
    const playback = new Playback(11, 10);
    playback.loop = false;
    playback.toggle();
    playback.advance(5);
    expect([playback.frame, playback.playing]).toEqual([10, false]);
    playback.toggle();
    expect([playback.frame, playback.playing]).toEqual([0, true]);
  });

  it("shows every frame exactly, within the clip", () => {
    const playback = new Playback(100, 24);
    for (let frame = 0; frame < 100; frame++) {
      playback.showFrame(frame);
      expect(playback.frame).toBe(frame);
    }
    playback.showFrame(200);
    expect(playback.frame).toBe(99);
    playback.showFrame(-3);
    expect(playback.frame).toBe(0);
  });

  it("does not play a single pose", () => {
    const playback = new Playback(1, 24);
    playback.toggle();
    expect([playback.playing, playback.duration]).toEqual([false, 0]);
  });
});
