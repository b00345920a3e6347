/** The newest state of the performance from the server, and requests that change it; all panels listen to it. */
import type { Context } from "../context";
import type { GiveCommandRequest, ModelEntry, PerformanceStatusEvent } from "../protocol/messages";
import { hueOf } from "./hues";
import { trainingLabels } from "./training_labels";

export type TellCommand = Omit<GiveCommandRequest, "kind">;

export interface PerformanceStore {
  /** The model on stage, or null without a performance. */
  model(): ModelEntry | null;
  /** The models of the character on stage. */
  models(): ModelEntry[];
  readonly now: PerformanceStatusEvent | null;
  on(listener: (event: PerformanceStatusEvent) => void): () => void;
  /** Called when another model is on stage, or none. */
  onModel(listener: (model: ModelEntry | null) => void): void;
  tell(command: TellCommand): void;
}

export function createPerformanceStore({ connection, store, notices }: Context): PerformanceStore {
  const listeners = new Set<(event: PerformanceStatusEvent) => void>();
  const modelListeners = new Set<(model: ModelEntry | null) => void>();
  let now: PerformanceStatusEvent | null = null;
  let stagedModel: string | null = null;

  const model = (): ModelEntry | null => {
    const document = store.document;
    if (document?.stage.driver !== "model") return null;
    return document.models.find((entry) => entry.id === document.stage.drives) ?? null;
  };

  connection.on("performing", (event) => {
    now = event;
    for (const listener of listeners) listener(event);
  });
  store.onDocument((document) => {
    // Labels get their hues in the order of the document, so that they are the same when the page is opened again.
    for (const character of document.characters) for (const label of trainingLabels(character).keys()) hueOf(label);
    const current = model();
    const id = current?.id ?? "";
    if (id === stagedModel) return;
    stagedModel = id;
    if (!current) now = null;
    for (const listener of modelListeners) listener(current);
  });

  return {
    model,
    models: () => store.document?.models.filter((entry) => entry.character === store.document?.stage.character) ?? [],
    get now() {
      return now;
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onModel(listener) {
      modelListeners.add(listener);
      if (stagedModel !== null) listener(model());
    },
    tell(command) {
      connection.request({ kind: "tell", ...command }).catch(notices.showError);
    },
  };
}
