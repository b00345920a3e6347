/** The one WebSocket to the server: requests with answers, events, and frames. It comes back by itself. */
import type { Results, StudioEvent, StudioRequest } from "./messages";
import type { Socket } from "./socket";

export type ConnectionState = "connecting" | "live" | "lost";
export type EventOf<K extends StudioEvent["kind"]> = Extract<StudioEvent, { kind: K }>;

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
  request<R extends StudioRequest>(message: R): Promise<Results[R["kind"]]>;
  /** Sends a message that needs no answer; dropped while the connection is lost. */
  tell(message: StudioRequest): void;
  /** Listens to an event; gives the function that stops it. */
  on<K extends StudioEvent["kind"]>(kind: K, listener: (event: EventOf<K>) => void): () => void;
  /** Listens to binary frames: a 32-byte header and float32 (contract of the wire). */
  onFrame(listener: (data: ArrayBuffer) => void): () => void;
  onState(listener: (state: ConnectionState) => void): () => void;
  /** Hears when something is asked while nothing was, and when all of it has been answered. */
  onAsking(listener: (asking: boolean) => void): () => void;
  close(): void;
}

const FIRST_WAIT = 250; // ms before the first attempt to come back
const LONGEST_WAIT = 4000;
const PATIENCE = 8000; // ms that a request waits for a lost connection to come back

/** How long to wait before attempt n, in ms: doubling, never longer than a person would wait. */
export function backoff(attempt: number): number {
  return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** attempt);
}

/** The address of the socket beside a page: the same host, the page's token if it has one. */
export function socketAddress(page: string): string {
  const address = new URL("live", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.search = new URL(page).search;
  address.hash = "";
  return address.href;
}

interface Pending {
  resolve(result: never): void;
  reject(reason: Refused): void;
}

type Listener = (event: StudioEvent) => void;

/** A connection over sockets that `opened` makes to the address. */
export function connect(address: string, opened: (address: string) => Socket): Connection {
  const listeners = new Map<string, Set<Listener>>();
  const frameListeners = new Set<(data: ArrayBuffer) => void>();
  const stateListeners = new Set<(state: ConnectionState) => void>();
  const pending = new Map<number, Pending>();
  const askingListeners = new Set<(asking: boolean) => void>();
  const waiting = new Set<() => void>();
  let socket: Socket;
  let state: ConnectionState = "connecting";
  let lastId = 0;
  let attempt = 0;
  let closed = false;

  function become(next: ConnectionState): void {
    if (state === next) return;
    state = next;
    for (const listener of stateListeners) listener(state);
  }

  function asks(asking: boolean): void {
    for (const listener of askingListeners) listener(asking);
  }

  function receive(event: StudioEvent): void {
    if (event.kind === "done" || event.kind === "failed") {
      const asked = pending.get(event.id);
      pending.delete(event.id);
      if (asked && !pending.size) asks(false);
      if (event.kind === "done") asked?.resolve(event.result as never);
      else asked?.reject(new Refused(event.sentence, event.hint));
    }
    for (const listener of listeners.get(event.kind) ?? []) listener(event);
  }

  function open(): void {
    const mine = opened(address);
    socket = mine;
    mine.onopen = () => {
      attempt = 0;
      become("live");
      for (const go of [...waiting]) go();
    };
    mine.onmessage = ({ data }) => {
      if (typeof data === "string") receive(JSON.parse(data) as StudioEvent);
      else for (const listener of frameListeners) listener(data);
    };
    mine.onclose = () => {
      if (mine !== socket || closed) return;
      become("lost");
      for (const asked of pending.values()) {
        asked.reject(
          new Refused(
            "The connection was lost before the studio answered.",
            "It comes back by itself; then try again.",
          ),
        );
      }
      if (pending.size) asks(false);
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
          new Refused(
            "The studio's server does not answer.",
            "Start it again with `understudy studio`; nothing is lost.",
          ),
        );
      }, PATIENCE);
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
        if (!pending.size) asks(true);
        pending.set(id, { resolve: resolve as Pending["resolve"], reject });
        socket.send(JSON.stringify({ ...message, id }));
      });
    },
    tell(message) {
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
    onAsking(listener) {
      askingListeners.add(listener);
      return () => askingListeners.delete(listener);
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
