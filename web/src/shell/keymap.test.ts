import { describe, expect, it } from "vitest";
import type { Command } from "../modes/mode";
import { keyCaps, keysOf, nameOfKey, normaliseKey } from "./keymap";

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
    expect(nameOfKey(pressed("Z", { ctrlKey: true, shiftKey: true }))).toBe(normaliseKey("Shift+Ctrl+Z"));
    expect(nameOfKey(pressed(" "))).toBe(normaliseKey("Space"));
    expect(nameOfKey(pressed("k", { metaKey: true }))).toBe(normaliseKey("Ctrl+K"));
    expect(normaliseKey("+")).toBe("+");
  });

  it("distinguishes keys with different modifiers", () => {
    const names = ["z", "Ctrl+z", "Ctrl+Shift+z", "Alt+z", "Shift+z"].map(normaliseKey);
    expect(new Set(names).size).toBe(names.length);
  });

  it("gives each keymap its own keys", () => {
    const turn: Command = { id: "view.turn", title: "Turn", keys: { blender: ["r"], maya: ["e"] }, run() {} };
    expect(keysOf(turn, "blender")).toEqual(["r"]);
    expect(keysOf(turn, "maya")).toEqual(["e"]);
    expect(keysOf({ ...turn, keys: ["Space"] }, "maya")).toEqual(["Space"]);
  });

  it("shows readable key caps", () => {
    expect(keyCaps("Ctrl+Shift+z")).toEqual(["Ctrl", "Shift", "Z"]);
    expect(keyCaps("Shift+ArrowLeft")).toEqual(["Shift", "←"]);
  });
});
