/** Keeps the stage in sync with the document: fetches the character and shows a spinner meanwhile. */
import type { Context } from "../context";
import { h } from "../dom";

const SPINNER_DELAY_MS = 150;

/** The error message of a failed response. */
export async function errorText(answer: Response): Promise<string> {
  try {
    const body = (await answer.json()) as { sentence?: string };
    return body.sentence ?? `The server answered ${answer.status}.`;
  } catch {
    return `The server answered ${answer.status}.`;
  }
}

export function syncStage({ stage, store, notices, connection }: Context, host: HTMLElement): void {
  const wait = h(
    "div",
    { class: "loading hidden", role: "status" },
    h("span", { class: "spinner", "aria-hidden": "true" }),
    h("span", {}),
  );
  host.append(wait);
  let shownId = ""; // the character on stage or being fetched
  let current: AbortController | null = null;

  async function showCharacter(id: string, name: string): Promise<void> {
    current?.abort();
    const controller = new AbortController();
    current = controller;
    const slow = setTimeout(() => {
      (wait.lastChild as HTMLElement).textContent = `${name} is getting ready`;
      wait.classList.remove("hidden");
    }, SPINNER_DELAY_MS);
    try {
      const address = `stage/${encodeURIComponent(id)}`;
      const fetchBuffer = async (from: string): Promise<ArrayBuffer> => {
        const answer = await fetch(from, { signal: controller.signal });
        if (!answer.ok) throw new Error(await errorText(answer));
        return answer.arrayBuffer();
      };
      const description = await fetchBuffer(address);
      if (controller.signal.aborted) return;
      await stage.show(
        description,
        (texture) => `${address}/texture/${texture}`,
        () => fetchBuffer(`${address}/sketch`),
      );
      stage.canvas.dataset.staged = id;
    } catch (reason) {
      // The character may have been closed meanwhile; wait for the document that says so.
      await connection.request({ kind: "ping" }).catch(() => undefined);
      if (controller.signal.aborted) return;
      shownId = "";
      notices.show(
        "error",
        `${name} could not be put on stage: ${reason instanceof Error ? reason.message : String(reason)}`,
        "Choose it again in the library, or open another.",
      );
    } finally {
      clearTimeout(slow);
      if (current === controller) wait.classList.add("hidden");
    }
  }

  store.onDocument((document) => {
    const id = document.stage.character;
    stage.select(document.selection);
    if (id === shownId) return;
    shownId = id;
    const entry = store.character();
    if (entry?.visible === false && !entry.joints) return stage.clear();
    if (entry) void showCharacter(id, entry.name);
    else stage.clear();
  });
  // A restarted server may have read its files again.
  connection.onState((state) => {
    if (state === "lost") current?.abort();
  });
}
