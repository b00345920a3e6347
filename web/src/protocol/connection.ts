/** The WebSocket to the server: requests with answers, events, and frames. It reconnects by itself. */
import type { Results, StudioEvent, StudioRequest } from "./messages";
import type { Socket } from "./socket";

export type ConnectionState = "connecting" | "live" | "lost";
export type EventOf<K extends StudioEvent["kind"]> = Extract<StudioEvent, { kind: K }>;

/** The server refused a request: what is wrong, and what to do next. */
export class RequestError extends Error {
  constructor(
    readonly sentence: string,
    readonly hint: string = "",
  ) {
    super(sentence);
  }
}

export interface Connection {
  readonly state: ConnectionState;
  /**
   * Sends a request (the connection adds its `id`) and returns the `result` of its answer; rejects with `RequestError`.
   */
  request<R extends StudioRequest>(message: R): Promise<Results[R["kind"]]>;
  /** Sends a message that needs no answer; dropped while the connection is lost. */
  send(message: StudioRequest): void;
  /** Listens to an event; returns the function that stops listening. */
  on<K extends StudioEvent["kind"]>(kind: K, listener: (event: EventOf<K>) => void): () => void;
  /** Listens to binary frames: a 32-byte header and float32 (see studio/source.py). */
  onFrame(listener: (data: ArrayBuffer) => void): () => void;
  onState(listener: (state: ConnectionState) => void): () => void;
  /** Called with true when a first request is pending, and with false when all are answered. */
  onPending(listener: (asking: boolean) => void): () => void;
  close(): void;
}

const FIRST_BACKOFF_MS = 250; // before the first attempt to reconnect
const MAX_BACKOFF_MS = 4000;
const MAX_WAIT_MS = 8000; // that a request waits for a lost connection

/** How long to wait before attempt n (ms): doubling, up to a limit. */
export function backoff(attempt: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt);
}

/** The address of the socket of a page: the same host, with the page's token if it has one. */
export function socketAddress(page: string): string {
  const address = new URL("live", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.search = new URL(page).search;
  address.hash = "";
  return address.href;
}

interface Pending {
  resolve(result: never): void;
  reject(reason: RequestError): void;
}

type Listener = (event: StudioEvent) => void;

/** Connects to an address with the sockets that `openSocket` creates. */
export function connect(address: string, openSocket: (address: string) => Socket): Connection {
  const listeners = new Map<string, Set<Listener>>();
  const frameListeners = new Set<(data: ArrayBuffer) => void>();
  const stateListeners = new Set<(state: ConnectionState) => void>();
  const pending = new Map<number, Pending>();
  const pendingListeners = new Set<(asking: boolean) => void>();
  const waiting = new Set<() => void>();
  let socket: Socket;
  let state: ConnectionState = "connecting";
  let lastId = 0;
  let attempt = 0;
  let closed = false;

  function setState(next: ConnectionState): void {
    if (state === next) return;
    state = next;
    for (const listener of stateListeners) listener(state);
  }

  function emitPending(asking: boolean): void {
    for (const listener of pendingListeners) listener(asking);
  }

  function receive(event: StudioEvent): void {
    if (event.kind === "done" || event.kind === "failed") {
      const request = pending.get(event.id);
      pending.delete(event.id);
      if (request && !pending.size) emitPending(false);
      if (event.kind === "done") request?.resolve(event.result as never);
      else request?.reject(new RequestError(event.sentence, event.hint));
    }
    for (const listener of listeners.get(event.kind) ?? []) listener(event);
  }

  function open(): void {
    const newSocket = openSocket(address);
    socket = newSocket;
    newSocket.onopen = () => {
      attempt = 0;
      setState("live");
      for (const go of [...waiting]) go();
    };
    newSocket.onmessage = ({ data }) => {
      if (typeof data === "string") receive(JSON.parse(data) as StudioEvent);
      else for (const listener of frameListeners) listener(data);
    };
    newSocket.onclose = () => {
      if (newSocket !== socket || closed) return;
      setState("lost");
      for (const request of pending.values()) {
        request.reject(
          new RequestError(
            "The connection was lost before the studio answered.",
            "The page reconnects by itself; then try again.",
          ),
        );
      }
      if (pending.size) emitPending(false);
      pending.clear();
      setTimeout(() => !closed && open(), backoff(attempt++));
    };
  }

  function ready(): Promise<void> {
    if (socket.readyState === 1) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const go = () => {
        clearTimeout(timer);
        waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(go);
        reject(
          new RequestError(
            "The studio's server does not answer.",
            "Start it again with `understudy studio`; nothing is lost.",
          ),
        );
      }, MAX_WAIT_MS);
      waiting.add(go);
    });
  }

  open();
  return {
    get state() {
      return state;
    },
    async request(message) {
      await ready();
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        if (!pending.size) emitPending(true);
        pending.set(id, { resolve: resolve as Pending["resolve"], reject });
        socket.send(JSON.stringify({ ...message, id }));
      });
    },
    send(message) {
      if (socket.readyState === 1) socket.send(JSON.stringify(message));
    },
    on(kind, listener) {
      const set = listeners.get(kind) ?? new Set();
      listeners.set(kind, set.add(listener as Listener));
      return () => set.delete(listener as Listener);
    },
    onFrame(listener) {
      frameListeners.add(listener);
      return () => frameListeners.delete(listener);
    },
    onPending(listener) {
      pendingListeners.add(listener);
      return () => pendingListeners.delete(listener);
    },
    onState(listener) {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    close() {
      closed = true;
      socket.close();
    },
  };
}
