/** The edit that the page shows: what the server last said of it, and the requests that change it. */
import type { Context } from "../context";
import { Refused } from "../protocol/connection";
import { frameHeader } from "../protocol/frame";
import { type EditState, FRAME, type Results, type StudioRequest } from "../protocol/messages";

export interface EditSession {
  /** What is edited, as the server last said it; null while nothing is. */
  readonly state: EditState | null;
  /** Called at once with the state, then after each change of it; null when the edit was left. */
  onState(listener: (state: EditState | null) => void): () => void;
  /** Binary frames of the graph's stream (form 5), header and all; the session answers `seen`. */
  onGraph(listener: (data: ArrayBuffer) => void): () => void;
  /** Sends a request and gives its result; a refusal is shown as a notice, and gives null. */
  ask<R extends StudioRequest>(message: R): Promise<Results[R["kind"]] | null>;
  /** Sends what needs no answer: drags. */
  tell(message: StudioRequest): void;
}

export function createEditSession({ connection, store, notices }: Context): EditSession {
  const listeners = new Set<(state: EditState | null) => void>();
  const graphs = new Set<(data: ArrayBuffer) => void>();
  let state: EditState | null = null;

  connection.on("edit", (event) => {
    state = event.state;
    for (const listener of listeners) listener(state);
  });
  // Whoever comes back asks anew: the server may be another one.
  connection.onState((now) => {
    if (now !== "lost") return;
    state = null;
    for (const listener of listeners) listener(state);
  });
  connection.onFrame((data) => {
    const header = frameHeader(data);
    if (header?.stream !== FRAME.graphStream) return;
    for (const listener of graphs) listener(data);
    connection.tell({ kind: "seen", sequence: header.sequence, stream: header.stream });
  });

  return {
    get state() {
      return state;
    },
    onState(listener) {
      listeners.add(listener);
      listener(state);
      return () => listeners.delete(listener);
    },
    onGraph(listener) {
      graphs.add(listener);
      return () => graphs.delete(listener);
    },
    async ask(message) {
      const asked = store.edit()?.id;
      try {
        return await connection.request(message);
      } catch (reason) {
        // What was asked of an edit that has just left the stage is of no interest any more.
        const now = store.edit()?.id;
        const gone = message.kind.startsWith("edit") && message.kind !== "editOpen" && (!now || now !== asked);
        // What is refused has changed nothing: it is said, and leaves by itself.
        if (!gone && reason instanceof Refused) notices.show("warning", reason.sentence, reason.hint);
        else if (!gone) notices.failed(reason);
        return null;
      }
    },
    tell: (message) => connection.tell(message),
  };
}
