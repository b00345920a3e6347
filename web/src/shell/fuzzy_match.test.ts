import { describe, expect, it } from "vitest";
import { match, ranked } from "./fuzzy_match";

const titles = [
  "Play or pause",
  "Frame all",
  "Frame the selection",
  "One frame on",
  "Clip: happy_laugh",
  "Undo",
  "Redo",
];
const first = (query: string) => ranked(query, titles, (title) => title)[0]?.item;

describe("matching", () => {
  it("finds a command by the beginning, by a word inside, and by scattered letters", () => {
    expect(first("pl")).toBe("Play or pause");
    expect(first("selec")).toBe("Frame the selection");
    expect(first("laugh")).toBe("Clip: happy_laugh");
    expect(first("fts")).toBe("Frame the selection");
  });

  it("takes words in any order", () => {
    expect(first("all frame")).toBe("Frame all");
  });

  it("keeps the order of things for an empty query, and finds nothing for what is not there", () => {
    expect(ranked("", titles, (title) => title).map((each) => each.item)).toEqual(titles);
    expect(ranked("qqq", titles, (title) => title)).toEqual([]);
  });

  it("says where the letters are", () => {
    const found = match("all", "Frame all");
    expect(found?.places).toEqual([6, 7, 8]);
  });
});
