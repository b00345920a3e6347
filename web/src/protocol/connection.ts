/** The one WebSocket to the server: requests with answers, events, and frames. */

export type Outgoing = { kind: string } & Record<string, unknown>;
export type Incoming = { kind: string } & Record<string, any>;
export type ConnectionState = "connecting" | "live" | "lost";

/** The server's refusal of a request: a sentence, and what to do next. */
export class Refused extends Error {
  constructor(
    readonly sentence: string,
    readonly hint: string = "",
  ) {
    super(sentence);
  }
}

export interface Connection {
  readonly state: ConnectionState;
  /** Sends a request (the connection adds its `id`) and gives the `result` of its answer; rejects with `Refused`. */
  request<T = any>(message: Outgoing): Promise<T>;
  /** Sends a message that needs no answer; dropped while the connection is lost. */
  tell(message: Outgoing): void;
  /** Listens to an event; gives the function that stops it. */
  on(kind: string, listener: (event: Incoming) => void): () => void;
  /** Listens to binary frames: a 32-byte header and float32 (contract of the wire). */
  onFrame(listener: (data: ArrayBuffer) => void): () => void;
  onState(listener: (state: ConnectionState) => void): () => void;
  close(): void;
}
