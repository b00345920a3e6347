/** The edit that the page shows: what the server last said of it, and the requests that change it. */
import type { Context } from "../context";
import { frameHeader } from "../protocol/frame";
import type { StudioRequest } from "../protocol/messages";
import { GRAPH_STREAM, type EditState } from "./wire";

export interface EditSession {
  /** What is edited, as the server last said it; null while nothing is. */
  readonly state: EditState | null;
  /** Called at once where there is a state, then after each change of it; null when the edit was left. */
  onState(listener: (state: EditState | null) => void): () => void;
  /** Binary frames of the graph's stream (form 5), header and all. */
  onGraph(listener: (data: ArrayBuffer) => void): () => void;
  /** Sends a request and gives its result; a refusal is shown as a notice, and gives null. */
  ask<T>(message: { kind: string; [field: string]: unknown }): Promise<T | null>;
  /** Sends what needs no answer: drags. */
  tell(message: { kind: string; [field: string]: unknown }): void;
}

export function createEditSession({ connection, notices }: Context): EditSession & { hear(state: EditState | null): void } {
  const listeners = new Set<(state: EditState | null) => void>();
  const graphs = new Set<(data: ArrayBuffer) => void>();
  let state: EditState | null = null;

  function hear(next: EditState | null): void {
    state = next;
    for (const listener of listeners) listener(state);
  }

  connection.onFrame((data) => {
    if (frameHeader(data)?.stream === GRAPH_STREAM) for (const listener of graphs) listener(data);
  });

  return {
    get state() {
      return state;
    },
    hear,
    onState(listener) {
      listeners.add(listener);
      if (state) listener(state);
      return () => listeners.delete(listener);
    },
    onGraph(listener) {
      graphs.add(listener);
      return () => graphs.delete(listener);
    },
    async ask<T>(message: { kind: string }): Promise<T | null> {
      try {
        return (await connection.request(message as StudioRequest)) as T;
      } catch (reason) {
        notices.failed(reason);
        return null;
      }
    },
    tell: (message) => connection.tell(message as unknown as StudioRequest),
  };
}
