/** Keys: two keymaps over one list of commands, and the rules for when a key runs a command. */
import type { Command } from "../modes/mode";
import { storedSetting, storeSetting } from "./settings";

export type KeymapName = "blender" | "maya";
export const KEYMAPS: Record<KeymapName, string> = { blender: "Blender (G, R, S)", maya: "Maya (W, E, R)" };

/** The part of a keyboard event that names a key. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** The name of a key as commands write it: modifiers in a fixed order, lower case letters, ⌘ as Ctrl. */
export function nameOfKey(event: KeyPress): string {
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const modifiers = [
    event.ctrlKey || event.metaKey ? "Ctrl" : "",
    event.altKey ? "Alt" : "",
    event.shiftKey ? "Shift" : "",
  ];
  return [...modifiers.filter(Boolean), key].join("+");
}

/** "Shift+Ctrl+Z" in the order and case of `nameOfKey`. */
export function normaliseKey(key: string): string {
  const parts = key === "+" ? ["+"] : key.split("+");
  const last = parts[parts.length - 1];
  const has = (name: string) => parts.slice(0, -1).includes(name);
  return nameOfKey({ key: last, ctrlKey: has("Ctrl"), metaKey: false, altKey: has("Alt"), shiftKey: has("Shift") });
}

const KEY_CAPS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Delete: "Del",
};

/** The key caps of a key: "Ctrl Shift Z" as three strings. */
export function keyCaps(key: string): string[] {
  return normaliseKey(key)
    .split("+")
    .map((part) => KEY_CAPS[part] ?? (part.length === 1 ? part.toUpperCase() : part));
}

export function keysOf(command: Command, keymap: KeymapName): string[] {
  if (!command.keys) return [];
  return Array.isArray(command.keys) ? command.keys : command.keys[keymap];
}

/** Whether a key belongs to the focused element rather than to a command. */
export function belongsToTarget(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  const typing = target.closest(
    "input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable=true]",
  );
  if (typing) return key !== "Ctrl+k";
  // Space and Enter press a button that was focused by keys; after a click, Space belongs to the transport.
  return (key === "Space" || key === "Enter") && target.matches("button:focus-visible, a:focus-visible, summary");
}

export interface Keymap {
  readonly name: KeymapName;
  use(name: KeymapName): void;
  /** Adds commands. Their keys work only while `isActive` returns true; the palette always lists them. */
  add(commands: readonly Command[], isActive?: () => boolean): void;
  /** Adds a function that creates commands on demand, for example one for each clip. */
  addSource(source: () => Command[]): void;
  commands(): Command[];
  find(id: string): Command | undefined;
  keys(command: Command): string[];
  run(command: Command): void;
}

/** The registry of commands; errors of commands go to `failed`. */
export function createKeymap(onError: (reason: unknown) => void): Keymap {
  const fixed: { command: Command; isActive: () => boolean }[] = [];
  const sources: (() => Command[])[] = [];
  let name = storedSetting<string>("keymap", "blender") as KeymapName;
  if (!(name in KEYMAPS)) name = "blender";

  const keymap: Keymap = {
    get name() {
      return name;
    },
    use(next) {
      name = next;
      storeSetting("keymap", next);
    },
    add(commands, keyed = () => true) {
      for (const command of commands) {
        if (keymap.find(command.id)) throw new Error(`the command "${command.id}" exists twice`);
        fixed.push({ command, isActive: keyed });
      }
    },
    addSource: (source) => void sources.push(source),
    commands: () => [...fixed.map((entry) => entry.command), ...sources.flatMap((source) => source())],
    find: (id) => fixed.find((entry) => entry.command.id === id)?.command,
    keys: (command) => keysOf(command, name),
    run(command) {
      if (command.enabled && !command.enabled()) return;
      void (async () => command.run())().catch(onError);
    },
  };

  window.addEventListener("keydown", (event) => {
    const pressed = nameOfKey(event);
    if (event.defaultPrevented || event.isComposing || belongsToTarget(event.target, pressed)) return;
    // The last match wins: keys of a mode take precedence over those of the shell.
    const match = fixed.findLast(
      (entry) => entry.isActive() && keysOf(entry.command, name).some((key) => normaliseKey(key) === pressed),
    );
    if (!match) return;
    event.preventDefault();
    keymap.run(match.command);
  });
  return keymap;
}
