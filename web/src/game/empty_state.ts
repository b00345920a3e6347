/** The empty state of the game: no character on stage, or a character without a learned model. */
import type { Context } from "../context";
import { h, replace } from "../dom";

/** A card over the stage; hidden when the game can be played. */
export function createEmptyState({ store, connection, notices }: Context): { element: HTMLElement; refresh(): void } {
  const element = h("div", { class: "game-teach hidden" });
  let learning = false;

  async function learn(character: string): Promise<void> {
    try {
      await connection.request({ kind: "learn", character });
      learning = true;
    } catch (reason) {
      notices.showError(reason);
    }
    refresh();
  }

  function refresh(): void {
    const character = store.character();
    const needed = store.document !== null && !store.document.models.length;
    element.classList.toggle("hidden", !needed);
    if (!needed) return;
    if (!character) {
      replace(element, h("p", {}, "No character is on stage. Open one, for example the dragon."));
      return;
    }
    if (!character.clips.length) {
      replace(element, h("p", {}, `The ${character.name} has no clips to learn acting from.`));
      return;
    }
    replace(
      element,
      h(
        "p",
        {},
        learning
          ? `The ${character.name} is learning its part…`
          : `The ${character.name} has not learned to act yet. It learns from its own clips, once, in about a minute.`,
      ),
      learning
        ? h("span", { class: "spinner" })
        : h("button", { type: "button", class: "primary", onclick: () => void learn(character.id) }, "Let it learn"),
    );
  }

  connection.on("job", (job) => {
    if (job.task !== "learn") return;
    learning = job.state === "running";
    refresh();
  });
  return { element, refresh };
}
