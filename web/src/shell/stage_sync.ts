/** Keeps the stage in step with the document: fetches a character when it is put on, shows that it is coming. */
import type { Context } from "../context";
import { h } from "../dom";

const SLOW = 150; // ms before a wait is shown

/** The sentence of an answer that is not a success. */
export async function refusal(answer: Response): Promise<string> {
  try {
    const body = (await answer.json()) as { sentence?: string };
    return body.sentence ?? `The server answered ${answer.status}.`;
  } catch {
    return `The server answered ${answer.status}.`;
  }
}

export function keepStaged({ stage, store, notices, connection }: Context, host: HTMLElement): void {
  const wait = h(
    "div",
    { class: "loading hidden", role: "status" },
    h("span", { class: "spinner", "aria-hidden": "true" }),
    h("span", {}),
  );
  host.append(wait);
  let shown = ""; // the character on stage, or on its way there
  let current: AbortController | null = null;

  async function put(id: string, name: string): Promise<void> {
    current?.abort();
    const mine = new AbortController();
    current = mine;
    const slow = setTimeout(() => {
      (wait.lastChild as HTMLElement).textContent = `${name} is getting ready`;
      wait.classList.remove("hidden");
    }, SLOW);
    try {
      const address = `stage/${encodeURIComponent(id)}`;
      const fetched = async (from: string): Promise<ArrayBuffer> => {
        const answer = await fetch(from, { signal: mine.signal });
        if (!answer.ok) throw new Error(await refusal(answer));
        return answer.arrayBuffer();
      };
      const description = await fetched(address);
      if (mine.signal.aborted) return;
      await stage.show(
        description,
        (texture) => `${address}/texture/${texture}`,
        () => fetched(`${address}/sketch`),
      );
      stage.canvas.dataset.staged = id;
    } catch (reason) {
      // A character that has been closed meanwhile: the document that says so may still be on its way.
      await connection.request({ kind: "ping" }).catch(() => undefined);
      if (mine.signal.aborted) return;
      shown = "";
      notices.show(
        "error",
        `${name} could not be put on stage: ${reason instanceof Error ? reason.message : String(reason)}`,
        "Choose it again in the library, or open another.",
      );
    } finally {
      clearTimeout(slow);
      if (current === mine) wait.classList.add("hidden");
    }
  }

  store.onDocument((document) => {
    const id = document.stage.character;
    stage.select(document.selection);
    if (id === shown) return;
    shown = id;
    const entry = store.character();
    if (entry?.visible === false && !entry.joints) return stage.clear();
    if (entry) void put(id, entry.name);
    else stage.clear();
  });
  // A server that came back may have read its files anew.
  connection.onState((state) => {
    if (state === "lost") current?.abort();
  });
}
