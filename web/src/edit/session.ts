/** The edit that the page shows: its newest state from the server, and the requests that change it. */
import type { Context } from "../context";
import { RequestError } from "../protocol/connection";
import { frameHeader } from "../protocol/frame";
import { type EditState, FRAME, type Results, type StudioRequest } from "../protocol/messages";

export interface EditSession {
  /** The newest state from the server; null without an edit. */
  readonly state: EditState | null;
  /** Called at once with the state, then after each change; null when the edit is closed. */
  onState(listener: (state: EditState | null) => void): () => void;
  /** Binary frames of the graph's stream (form 5), with their header; the session answers `seen`. */
  onGraph(listener: (data: ArrayBuffer) => void): () => void;
  /** Sends a request and returns its result; a refusal is shown as a notice, and returns null. */
  ask<R extends StudioRequest>(message: R): Promise<Results[R["kind"]] | null>;
  /** Sends a message without an answer: drags. */
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
  // After a reconnection the state is requested again, as the server may be another one.
  connection.onState((now) => {
    if (now !== "lost") return;
    state = null;
    for (const listener of listeners) listener(state);
  });
  connection.onFrame((data) => {
    const header = frameHeader(data);
    if (header?.stream !== FRAME.graphStream) return;
    for (const listener of graphs) listener(data);
    connection.send({ kind: "seen", sequence: header.sequence, stream: header.stream });
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
      const editId = store.edit()?.id;
      try {
        return await connection.request(message);
      } catch (reason) {
        // Errors of an edit that has left the stage meanwhile are not shown.
        const now = store.edit()?.id;
        const gone = message.kind.startsWith("edit") && message.kind !== "editOpen" && (!now || now !== editId);
        // A refusal has changed nothing, so a warning that disappears by itself is enough.
        if (!gone && reason instanceof RequestError) notices.show("warning", reason.sentence, reason.hint);
        else if (!gone) notices.showError(reason);
        return null;
      }
    },
    tell: (message) => connection.send(message),
  };
}
