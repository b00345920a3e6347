import { describe, expect, it } from "vitest";
import { match, rank } from "./fuzzy_match";

const titles = [
  "Play or pause",
  "Frame all",
  "Frame the selection",
  "One frame on",
  "Clip: happy_laugh",
  "Undo",
  "Redo",
];
const first = (query: string) => rank(query, titles, (title) => title)[0]?.item;

describe("fuzzy matching", () => {
  it("finds a command by the beginning, by a word inside, and by scattered letters", () => {
    expect(first("pl")).toBe("Play or pause");
    expect(first("selec")).toBe("Frame the selection");
    expect(first("laugh")).toBe("Clip: happy_laugh");
    expect(first("fts")).toBe("Frame the selection");
  });

  it("takes words in any order", () => {
    expect(first("all frame")).toBe("Frame all");
  });

  it("keeps the order of items for an empty query, and returns nothing without a match", () => {
    expect(rank("", titles, (title) => title).map((ranked) => ranked.item)).toEqual(titles);
    expect(rank("qqq", titles, (title) => title)).toEqual([]);
  });

  it("returns the indices of the letters", () => {
    const result = match("all", "Frame all");
    expect(result?.places).toEqual([6, 7, 8]);
  });
});
