/** The view menu in the stage's upper left corner: framing and standard views. */
import { showMenu } from "../controls/menu";
import { h, icon } from "../dom";
import { type Keymap, keyCaps } from "./keymap";

const EYE = "M1.5 8s2.5-4.5 6.5-4.5S14.5 8 14.5 8s-2.5 4.5-6.5 4.5S1.5 8 1.5 8zM8 6a2 2 0 1 0 0 4a2 2 0 1 0 0-4";

export function createViewMenu(host: HTMLElement, keymap: Keymap): void {
  const button = h(
    "button",
    { type: "button", class: "quiet small view-menu", "aria-haspopup": "menu", title: "View options" },
    icon(EYE),
    "View",
  );
  button.addEventListener("click", () => {
    const items = keymap.commands().filter((command) => command.id.startsWith("view."));
    showMenu(
      button,
      items.map((command) => ({
        title: command.title,
        about: keymap
          .keys(command)
          .slice(0, 1)
          .map((key) => keyCaps(key).join(" "))
          .join(""),
        run: () => keymap.run(command),
      })),
      "View",
    );
  });
  host.append(button);
}
