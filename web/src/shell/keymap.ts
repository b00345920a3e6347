/** Keys: two keymaps over one list of commands, and the rules of when a key is a command. */
import type { Command } from "../modes/mode";
import { remember, remembered } from "./settings";

export type KeymapName = "blender" | "maya";
export const KEYMAPS: Record<KeymapName, string> = { blender: "Blender (G, R, S)", maya: "Maya (W, E, R)" };

/** The part of a keyboard event that names a key. */
export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** A key as commands write it: modifiers in one order, letters small, ⌘ the same as Ctrl. */
export function nameOfKey(event: Pressed): string {
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const modifiers = [
    event.ctrlKey || event.metaKey ? "Ctrl" : "",
    event.altKey ? "Alt" : "",
    event.shiftKey ? "Shift" : "",
  ];
  return [...modifiers.filter(Boolean), key].join("+");
}

/** "Shift+Ctrl+Z" in the order and case of `nameOfKey`. */
export function normalised(key: string): string {
  const parts = key === "+" ? ["+"] : key.split("+");
  const last = parts[parts.length - 1];
  const has = (name: string) => parts.slice(0, -1).includes(name);
  return nameOfKey({ key: last, ctrlKey: has("Ctrl"), metaKey: false, altKey: has("Alt"), shiftKey: has("Shift") });
}

const SHOWN: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Delete: "Del",
};

/** A key as a person reads it: "Ctrl Shift Z" as three caps. */
export function shownKey(key: string): string[] {
  return normalised(key)
    .split("+")
    .map((part) => SHOWN[part] ?? (part.length === 1 ? part.toUpperCase() : part));
}

export function keysOf(command: Command, keymap: KeymapName): string[] {
  if (!command.keys) return [];
  return Array.isArray(command.keys) ? command.keys : command.keys[keymap];
}

/** Whether a key goes to the thing that has the focus rather than to a command. */
export function keptByTarget(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  const typing = target.closest(
    "input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable=true]",
  );
  if (typing) return key !== "Ctrl+k";
  // A button that was reached by keys is pressed by them; one that was clicked leaves Space to the transport.
  return (key === "Space" || key === "Enter") && target.matches("button:focus-visible, a:focus-visible, summary");
}

export interface Keymap {
  readonly name: KeymapName;
  use(name: KeymapName): void;
  /** Adds commands; their keys work only while `keyed` says so, the palette always has them. */
  add(commands: readonly Command[], keyed?: () => boolean): void;
  /** More commands, made anew at each question: one for each clip, for example. */
  addSource(source: () => Command[]): void;
  commands(): Command[];
  find(id: string): Command | undefined;
  keys(command: Command): string[];
  run(command: Command): void;
}

/** The register of commands; `failed` hears of those that throw. */
export function createKeymap(failed: (reason: unknown) => void): Keymap {
  const fixed: { command: Command; keyed: () => boolean }[] = [];
  const sources: (() => Command[])[] = [];
  let name = remembered<string>("keymap", "blender") as KeymapName;
  if (!(name in KEYMAPS)) name = "blender";

  const keymap: Keymap = {
    get name() {
      return name;
    },
    use(next) {
      name = next;
      remember("keymap", next);
    },
    add(commands, keyed = () => true) {
      for (const command of commands) {
        if (keymap.find(command.id)) throw new Error(`the command "${command.id}" exists twice`);
        fixed.push({ command, keyed });
      }
    },
    addSource: (source) => void sources.push(source),
    commands: () => [...fixed.map((each) => each.command), ...sources.flatMap((source) => source())],
    find: (id) => fixed.find((each) => each.command.id === id)?.command,
    keys: (command) => keysOf(command, name),
    run(command) {
      if (command.enabled && !command.enabled()) return;
      void (async () => command.run())().catch(failed);
    },
  };

  window.addEventListener("keydown", (event) => {
    const pressed = nameOfKey(event);
    if (event.defaultPrevented || event.isComposing || keptByTarget(event.target, pressed)) return;
    // The last one wins: a mode's keys stand before the shell's.
    const found = fixed.findLast(
      (each) => each.keyed() && keysOf(each.command, name).some((key) => normalised(key) === pressed),
    );
    if (!found) return;
    event.preventDefault();
    keymap.run(found.command);
  });
  return keymap;
}
