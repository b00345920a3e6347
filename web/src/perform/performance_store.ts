/** What the server last said of the performance, and the requests that change it; every panel listens here. */
import type { Context } from "../context";
import type { ModelEntry, PerformingEvent, TellRequest } from "../protocol/messages";
import { hueOf } from "./hues";
import { labelsOf } from "./training_labels";

export type Telling = Omit<TellRequest, "kind">;

export interface Performing {
  /** The model on stage, or null where nobody performs. */
  model(): ModelEntry | null;
  /** The models of the character on stage. */
  models(): ModelEntry[];
  readonly now: PerformingEvent | null;
  on(listener: (event: PerformingEvent) => void): () => void;
  /** Called when another model is on stage, or none. */
  onModel(listener: (model: ModelEntry | null) => void): void;
  tell(command: Telling): void;
}

export function createPerforming({ connection, store, notices }: Context): Performing {
  const listeners = new Set<(event: PerformingEvent) => void>();
  const modelListeners = new Set<(model: ModelEntry | null) => void>();
  let now: PerformingEvent | null = null;
  let staged: string | null = null;

  const model = (): ModelEntry | null => {
    const document = store.document;
    if (document?.stage.driver !== "model") return null;
    return document.models.find((each) => each.id === document.stage.drives) ?? null;
  };

  connection.on("performing", (event) => {
    now = event;
    for (const listener of listeners) listener(event);
  });
  store.onDocument((document) => {
    // Hues go to labels in the order of the document, so that a page that is opened again has the same ones.
    for (const character of document.characters) for (const label of labelsOf(character).keys()) hueOf(label);
    const found = model();
    const id = found?.id ?? "";
    if (id === staged) return;
    staged = id;
    if (!found) now = null;
    for (const listener of modelListeners) listener(found);
  });

  return {
    model,
    models: () => store.document?.models.filter((each) => each.character === store.document?.stage.character) ?? [],
    get now() {
      return now;
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onModel(listener) {
      modelListeners.add(listener);
      if (staged !== null) listener(model());
    },
    tell(command) {
      connection.request({ kind: "tell", ...command }).catch(notices.failed);
    },
  };
}
