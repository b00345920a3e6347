/** Keys of the keyboard while the pointer works on keys or curves; others go to the commands of the mode. */

import type { Model } from "./model";
import type { Operations } from "./operations";
import type { Following } from "./pointer";

export interface Keyed {
  model: Model;
  operations: Operations;
  following(): Following;
  insertHere(): void;
  fit(): void;
  fitAll(): void;
  menu(): void;
}

export function pressed(event: KeyboardEvent, does: Keyed): void {
  const { operations, model } = does;
  if (event.ctrlKey || event.metaKey || (event.altKey && event.key !== "a")) return;
  const keys: Record<string, () => void> = {
    Delete: operations.remove,
    Backspace: operations.remove,
    x: operations.remove,
    a: event.altKey ? operations.selectNone : operations.selectAll,
    i: does.insertHere,
    g: () => does.following().move(),
    s: () => does.following().stretch(),
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
