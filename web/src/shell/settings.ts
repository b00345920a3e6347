/** Settings stored in this browser: sizes of docks, the keymap, hints that were seen. */

const PREFIX = "understudy.";

/** A stored value, or the default if there is none or it has another type. */
export function storedSetting<T extends string | number | boolean>(name: string, otherwise: T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
    return typeof value === typeof otherwise ? (value as T) : otherwise;
  } catch {
    return otherwise; // storage is not available or damaged
  }
}

export function storeSetting(name: string, value: string | number | boolean): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage the setting is lost, nothing else.
  }
}
