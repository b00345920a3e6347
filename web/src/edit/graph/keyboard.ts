/** Keyboard input of the graph and the dope sheet; other keys go to the commands of the mode. */

import type { Model } from "./model";
import type { Operations } from "./operations";
import type { KeyboardDrags } from "./pointer";

export interface KeyboardActions {
  model: Model;
  operations: Operations;
  keyboardDrags(): KeyboardDrags;
  insertHere(): void;
  fit(): void;
  fitAll(): void;
  menu(): void;
}

export function handleKey(event: KeyboardEvent, does: KeyboardActions): void {
  const { operations, model } = does;
  if (event.ctrlKey || event.metaKey || (event.altKey && event.key !== "a")) return;
  const keys: Record<string, () => void> = {
    Delete: operations.remove,
    Backspace: operations.remove,
    x: operations.remove,
    a: event.altKey ? operations.selectNone : operations.selectAll,
    i: does.insertHere,
    g: () => does.keyboardDrags().move(),
    s: () => does.keyboardDrags().stretch(),
    f: does.fit,
    Home: does.fitAll,
    v: does.menu,
  };
  if (model.selection.size) keys.Escape = operations.selectNone;
  const run = keys[event.key];
  if (!run) return;
  event.preventDefault();
  run();
}
