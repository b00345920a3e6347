/** Elements in one call: `h("button", { class: "quiet", onclick: go }, "Go")`. */

export type Child = Node | string | number | null | undefined | false;
type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | EventListenerOrEventListenerObject
  | ((event: never) => void);
export type Attributes = Record<string, Value>;

/**
 * An element of a tag with attributes and children. A key that begins with `on` is a listener; `true` sets an empty
 * attribute; `false`, `null` and `undefined` leave it out. Text is always text, never markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2).toLowerCase(), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Adds children to an element, leaving out empty ones. */
export function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(typeof child === "number" ? String(child) : child);
  }
}

/** Replaces all children of an element. */
export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

const SVG = "http://www.w3.org/2000/svg";

/** A line icon of 16 x 16 from a path; it inherits the text's colour and is hidden from screen readers. */
export function icon(path: string, filled = false): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", filled ? "icon filled" : "icon");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}
