import { describe, expect, it } from "vitest";
import { clampToDigits, parseTyped } from "../controls/number";
import { labelColour } from "../labels";
import type { ClipEntry, Document } from "../protocol/messages";
import { selectionAfter } from "./click_selection";
import { fitSize } from "./docks";
import { progressText } from "./jobs";
import { libraryRows } from "./library_rows";
import { appendReport, type StripSpan } from "./live_strip";
import { clock, duration, fileSize } from "./time";
import { GUTTER_PX, hitAt, type Picture } from "./timeline_picture";
import { marks } from "./transport";
import { viewAfter } from "./view_drag";

const clip = (name: string, labels: string[] = []): ClipEntry =>
  ({
    name,
    title: "",
    seconds: 2,
    frames: 60,
    rate: 30,
    start: 0,
    labels,
    about: "",
    moments: {},
    keyed: false,
    inside: name,
    source: "",
  }) as ClipEntry;

describe("numbers", () => {
  it("parses typed numbers, and nothing else", () => {
    expect(["1.5", " 2,5 ", "3 s", "-.5", "1e-2"].map(parseTyped)).toEqual([1.5, 2.5, 3, -0.5, 0.01]);
    expect(["", "abc", "1 2", "--3"].map(parseTyped)).toEqual([null, null, null, null]);
  });
  it("keeps a value in its bounds and on its digits", () => {
    expect(clampToDigits(1.26, 0, 1, 1)).toBe(1);
    expect(clampToDigits(0.26, 0, 1, 1)).toBe(0.3);
  });
});

describe("times", () => {
  it("are written in words", () => {
    expect([0.84, 12, 59.7, 185, 120].map(duration)).toEqual(["0.8 s", "12 s", "1 min", "3 min 5 s", "2 min"]);
    expect([0, 3.25, 59.999, 61.5].map(clock)).toEqual(["0:00.00", "0:03.25", "1:00.00", "1:01.50"]);
    expect([999, 1500, 4.2e6, 52e6].map(fileSize)).toEqual(["999 B", "1.5 kB", "4.2 MB", "52 MB"]);
  });
  it("of a job show progress and time", () => {
    expect(progressText(4, 10, 8)).toBe("40 % · 8.0 s, about 12 s more");
    expect(progressText(0, 0, 3)).toBe("3.0 s");
    expect(progressText(10, 10, 20)).toBe("100 % · 20 s");
  });
});

describe("the library", () => {
  const document = {
    name: "",
    characters: [
      {
        id: "a",
        name: "dragon",
        file: "dragon",
        clips: [clip("happy_laugh", ["happy"]), clip("roar_long", ["roar", "happy"]), clip("walk")],
      },
      { id: "b", name: "knight", file: "knight.glb", clips: [clip("Idle")] },
    ],
    models: [],
    takes: [],
    scripts: [],
    edits: [],
    selection: [],
    stage: { character: "a", driver: "clip", drives: "walk" },
  } as unknown as Document;

  it("finds clips by name and by label, of the character on stage", () => {
    const names = (query: string, ...labels: string[]) =>
      libraryRows(document, query, new Set(labels)).clips.map((clip) => clip.name);
    expect(names("")).toEqual(["happy_laugh", "roar_long", "walk"]);
    expect(names("happy")).toEqual(["happy_laugh", "roar_long"]);
    expect(names("", "roar")).toEqual(["roar_long"]);
    expect(names("walk", "roar")).toEqual([]);
  });
  it("always lists the character on stage", () => {
    expect(libraryRows(document, "knight", new Set()).characters.map((character) => character.id)).toEqual(["a", "b"]);
    expect(libraryRows(document, "zzz", new Set()).characters.map((character) => character.id)).toEqual(["a"]);
  });
});

describe("the timeline", () => {
  const picture: Picture = {
    playing: { name: "x", seconds: 4, rate: 30, frames: 120, labels: [], moments: { hit: 1 } },
    range: { start: 0.5, stop: 3 },
    view: { start: 0, stop: 4 },
    takes: [{ id: "t", name: "take", character: "a", file: "", seconds: 2, frames: 60, rate: 30, model: "" }],
    shownTake: "",
  };
  const width = GUTTER_PX + 400;
  it("finds what lies under the pointer", () => {
    expect(hitAt(GUTTER_PX + 50, 10, picture, width)).toMatchObject({ kind: "range", edge: "start" });
    expect(hitAt(GUTTER_PX + 300, 10, picture, width)).toMatchObject({ kind: "range", edge: "stop" });
    expect(hitAt(GUTTER_PX + 102, 60, picture, width)).toMatchObject({ kind: "moment", time: 1 });
    expect(hitAt(GUTTER_PX + 150, 80, picture, width)).toMatchObject({ kind: "take", id: "t" });
    expect(hitAt(GUTTER_PX + 350, 80, picture, width)).toMatchObject({ kind: "time" });
  });
  it("has sorted, unique marks", () => {
    expect(marks(picture.playing, picture.range)).toEqual([0, 0.5, 1, 3, 4]);
    expect(marks(picture.playing, { start: 0, stop: 4 })).toEqual([0, 1, 4]);
  });
});

describe("the live strip", () => {
  it("joins equal reports, drops old ones, and restarts with another performance", () => {
    let spans: StripSpan[] = [];
    for (const [time, text] of [
      [0, "a"],
      [1, "a"],
      [2, "b"],
      [3, "b"],
      [12, "c"],
    ] as const)
      spans = appendReport(spans, time, text, 10);
    expect(spans).toEqual([
      { start: 1, stop: 3, text: "b" },
      { start: 3, stop: 12, text: "c" },
    ]);
    expect(appendReport(spans, 0.5, "d", 10)).toEqual([{ start: 0.5, stop: 0.5, text: "d" }]);
  });
});

describe("selection", () => {
  it("is one name, or more with Shift", () => {
    expect(selectionAfter(["a"], "b", false)).toEqual(["b"]);
    expect(selectionAfter(["a"], "b", true)).toEqual(["a", "b"]);
    expect(selectionAfter(["a", "b"], "a", true)).toEqual(["b"]);
    expect(selectionAfter(["a"], null, false)).toEqual([]);
  });
});

describe("the view", () => {
  const view = { target: [0, 1, 0] as [number, number, number], azimuth: 0.4, elevation: 0.2, distance: 3 };
  it("returns when the pointer returns", () => {
    for (const viewDrag of ["pan", "turn", "zoom"] as const) {
      const back = viewAfter(viewAfter(view, viewDrag, 30, -12, 500), viewDrag, -30, 12, 500);
      expect(back.azimuth).toBeCloseTo(view.azimuth, 12);
      expect(back.elevation).toBeCloseTo(view.elevation, 12);
      expect(back.distance).toBeCloseTo(view.distance, 12);
      for (const [axis, value] of back.target.entries()) expect(value).toBeCloseTo(view.target[axis], 12);
    }
  });
  it("pans across the line of sight only", () => {
    const after = viewAfter(view, "pan", 40, 25, 500);
    const sight = [
      Math.sin(view.azimuth) * Math.cos(view.elevation),
      Math.sin(view.elevation),
      Math.cos(view.azimuth) * Math.cos(view.elevation),
    ];
    const along = sight.reduce((sum, value, axis) => sum + value * (after.target[axis] - view.target[axis]), 0);
    expect(along).toBeCloseTo(0, 12);
  });
});

describe("docks", () => {
  it("stay in their bounds and leave room to the stage", () => {
    expect(fitSize("library", 10, 1280)).toBe(180);
    expect(fitSize("library", 9999, 1280)).toBe(420);
    expect(fitSize("panel", 560, 1280)).toBe(427);
  });
});

describe("labels", () => {
  it("keep their colours, and the moods have eight different ones", () => {
    const moods = ["happy", "grumpy", "bored", "curious", "neutral", "roar", "head shake", "surprise"];
    expect(new Set(moods.map(labelColour)).size).toBe(8);
    const walk = labelColour("Walk");
    labelColour("Run");
    expect(labelColour("walk ")).toBe(walk);
  });
});
