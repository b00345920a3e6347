import { describe, expect, it } from "vitest";
import type { Command } from "../modes/mode";
import { keysOf, nameOfKey, normalised, shownKey } from "./keymap";

const pressed = (key: string, more = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
});

describe("keymap", () => {
  it("names a key the same however it was written or pressed", () => {
    expect(nameOfKey(pressed("Z", { ctrlKey: true, shiftKey: true }))).toBe(normalised("Shift+Ctrl+Z"));
    expect(nameOfKey(pressed(" "))).toBe(normalised("Space"));
    expect(nameOfKey(pressed("k", { metaKey: true }))).toBe(normalised("Ctrl+K"));
    expect(normalised("+")).toBe("+");
  });

  it("keeps apart keys with different modifiers", () => {
    const names = ["z", "Ctrl+z", "Ctrl+Shift+z", "Alt+z", "Shift+z"].map(normalised);
    expect(new Set(names).size).toBe(names.length);
  });

  it("gives each keymap its own keys", () => {
    const turn: Command = { id: "view.turn", title: "Turn", keys: { blender: ["r"], maya: ["e"] }, run() {} };
    expect(keysOf(turn, "blender")).toEqual(["r"]);
    expect(keysOf(turn, "maya")).toEqual(["e"]);
    expect(keysOf({ ...turn, keys: ["Space"] }, "maya")).toEqual(["Space"]);
  });

  it("shows caps a person can read", () => {
    expect(shownKey("Ctrl+Shift+z")).toEqual(["Ctrl", "Shift", "Z"]);
    expect(shownKey("Shift+ArrowLeft")).toEqual(["Shift", "←"]);
  });
});
