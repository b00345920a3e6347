/** A list of rows: arrow keys move the focus, Enter opens a row. Redrawing keeps scroll position and focus. */
import { type Child, h, replace } from "../dom";

export interface Row {
  id: string;
  current?: boolean; // the one on stage
  title?: string;
  content: Child[];
  open(): void;
  menu?(at: Element | { x: number; y: number }): void;
  rename?(): void;
  remove?(): void;
}

export interface RowList {
  element: HTMLElement;
  draw(rows: Row[], empty?: Node): void;
}

export function rowList(label: string): RowList {
  const element = h("ul", { class: "rows", role: "listbox", "aria-label": label });
  let rows: Row[] = [];
  let focused = ""; // the row that Tab reaches

  const items = () =>
    [...element.children].filter((child): child is HTMLElement => child.getAttribute("role") === "option");

  function focusRow(index: number): void {
    const all = items();
    const item = all[Math.max(0, Math.min(all.length - 1, index))];
    if (!item) return;
    for (const row of all) row.tabIndex = row === item ? 0 : -1;
    focused = item.dataset.id ?? "";
    item.focus();
    item.scrollIntoView({ block: "nearest" });
  }

  element.addEventListener("keydown", (event) => {
    const index = rows.findIndex((row) => row.id === (event.target as HTMLElement).dataset.id);
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[index];
    const to = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: index + 10,
      PageUp: index - 10,
    }[event.key];
    if (to !== undefined && !event.shiftKey) focusRow(to);
    else if (event.key === "Enter") row.open();
    else if (event.key === "F2" && row.rename) row.rename();
    else if (event.key === "Delete" && row.remove) row.remove();
    else if ((event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) && row.menu)
      row.menu(event.target as Element);
    else return;
    event.preventDefault();
  });

  function item(row: Row): HTMLElement {
    const element = h(
      "li",
      {
        role: "option",
        class: "item inset",
        "data-id": row.id,
        "aria-selected": String(row.current ?? false),
        tabindex: row.id === focused ? 0 : -1,
        title: row.title,
        onclick: () => {
          focusRow(rows.indexOf(row));
          row.open();
        },
        oncontextmenu: (event: MouseEvent) => {
          if (!row.menu) return;
          event.preventDefault();
          row.menu({ x: event.clientX, y: event.clientY });
        },
        ondblclick: () => row.rename?.(),
      },
      ...row.content,
    );
    return element;
  }

  return {
    element,
    draw(next, empty) {
      const had = element.contains(document.activeElement);
      rows = next;
      if (!rows.some((row) => row.id === focused)) focused = (rows.find((row) => row.current) ?? rows[0])?.id ?? "";
      const scroll = element.scrollTop;
      replace(element, ...rows.map(item), rows.length ? null : (empty ?? null));
      element.scrollTop = scroll;
      if (had)
        items()
          .find((row) => row.dataset.id === focused)
          ?.focus({ preventScroll: true });
    },
  };
}
