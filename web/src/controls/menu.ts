/** A menu below a button or at the pointer; arrow keys move the focus, Esc closes it. */
import { h, replace } from "../dom";

export interface Item {
  title: string;
  about?: string; // muted, at the right: a key, a file ending
  disabled?: boolean;
  heading?: boolean; // a title above the items that follow; not clickable
  run(): void;
}

let open: HTMLElement | null = null;

export function closeMenu(): void {
  open?.remove();
  open = null;
}

/** Shows items below an element, or at a position of the page. */
export function showMenu(at: Element | { x: number; y: number }, items: Item[], title?: string): void {
  closeMenu();
  const opener = document.activeElement;
  const menu = h("div", { class: "menu", role: "menu", "aria-label": title });
  const end = (refocus: boolean) => {
    window.removeEventListener("pointerdown", outside, true);
    window.removeEventListener("blur", away);
    if (open === menu) closeMenu();
    if (refocus && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
  };
  const outside = (event: Event) => {
    if (!menu.contains(event.target as Node)) end(false);
  };
  const away = () => end(false);
  const rows = items.map((item) => {
    if (item.heading) return h("div", { class: "title" }, item.title);
    return h(
      "button",
      {
        type: "button",
        role: "menuitem",
        disabled: item.disabled ?? false,
        onclick: () => {
          end(true);
          item.run();
        },
      },
      h("span", { class: "nowrap" }, item.title),
      item.about ? h("span", { class: "about" }, item.about) : null,
    );
  });
  replace(menu, title ? h("div", { class: "title" }, title) : null, ...rows);
  document.body.append(menu);
  open = menu;

  const box = at instanceof Element ? at.getBoundingClientRect() : new DOMRect(at.x, at.y, 0, 0);
  const left = Math.max(4, Math.min(box.left, innerWidth - menu.offsetWidth - 4));
  const below = box.bottom + 4 + menu.offsetHeight <= innerHeight;
  menu.style.left = `${left}px`;
  menu.style.top = `${below ? box.bottom + 4 : Math.max(4, box.top - menu.offsetHeight - 4)}px`;

  const usable = rows.filter((row): row is HTMLButtonElement => row instanceof HTMLButtonElement && !row.disabled);
  usable[0]?.focus();
  menu.addEventListener("keydown", (event) => {
    const index = usable.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 }[event.key];
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") end(true);
    else if (to !== undefined) usable.at(to % usable.length)?.focus();
    else return;
    event.preventDefault();
  });
  window.addEventListener("pointerdown", outside, true);
  window.addEventListener("blur", away);
}
