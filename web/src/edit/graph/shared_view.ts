/** The view that the graph and the dope sheet share: times of both, values of the graph. */
import type { View } from "./view";

export interface SharedView {
  value: View; // setting it redraws both
  onChange(listener: () => void): void;
}

export function createSharedView(): SharedView {
  const listeners: (() => void)[] = [];
  let view: View = { start: 0, stop: 1, low: -1, high: 1 };
  return {
    get value() {
      return view;
    },
    set value(next: View) {
      view = next;
      for (const listener of listeners) listener();
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
