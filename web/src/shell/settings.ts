/** What the page remembers by itself, for this browser: sizes of docks, the keymap, what was seen. */

const PREFIX = "understudy.";

/** A remembered value, or the default where there is none or it is of another type. */
export function remembered<T extends string | number | boolean>(name: string, otherwise: T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
    return typeof value === typeof otherwise ? (value as T) : otherwise;
  } catch {
    return otherwise; // storage is refused or spoilt: the default is always good
  }
}

export function remember(name: string, value: string | number | boolean): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // A full or refused storage only costs the memory of a setting.
  }
}
