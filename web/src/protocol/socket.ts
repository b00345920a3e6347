/**
 * A WebSocket in a worker, with the interface of a WebSocket. A frame has a quarter of a megabyte and arrives in
 * pieces: on a main thread that is busy rendering, each piece and everything after it would wait.
 */
import type { Command, Report } from "./socket_worker";

const [CONNECTING, OPEN, CLOSED] = [0, 1, 3] as const;

/** The part of WebSocket that a connection uses. */
export type Socket = Pick<WebSocket, "readyState" | "send" | "close"> & {
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onmessage: ((message: { data: string | ArrayBuffer }) => void) | null;
};

/** The part of Worker that a socket uses. */
export type SocketWorker = Pick<Worker, "onmessage" | "onerror"> & { postMessage(command: Command): void };

/** Returns a function that opens sockets, all in one worker. If the worker cannot be loaded, its sockets close. */
export function createSocketOpener(start: () => SocketWorker): (address: string) => Socket {
  const open = new Map<number, Socket & { readyState: 0 | 1 | 2 | 3 }>();
  let worker: SocketWorker | null = null;
  let numbers = 0;

  function markClosed(number: number): void {
    const socket = open.get(number);
    if (!open.delete(number) || !socket) return;
    socket.readyState = CLOSED;
    socket.onclose?.();
  }

  function startWorker(): SocketWorker {
    const newWorker = start();
    newWorker.onmessage = ({ data: report }: MessageEvent<Report>) => {
      const socket = open.get(report.socket);
      if ("data" in report) socket?.onmessage?.({ data: report.data });
      else if (report.is === "closed") markClosed(report.socket);
      else if (socket) {
        socket.readyState = OPEN;
        socket.onopen?.();
      }
    };
    newWorker.onerror = () => {
      worker = null;
      for (const number of [...open.keys()]) markClosed(number);
    };
    return newWorker;
  }

  return (address) => {
    const number = ++numbers;
    worker ??= startWorker();
    const currentWorker = worker;
    const socket = {
      readyState: CONNECTING,
      onopen: null,
      onclose: null,
      onmessage: null,
      send: (data: string) => currentWorker.postMessage({ socket: number, send: data }),
      close: () => currentWorker.postMessage({ socket: number, close: true }),
    } as Socket & { readyState: 0 | 1 | 2 | 3 };
    open.set(number, socket);
    currentWorker.postMessage({ socket: number, open: address });
    return socket;
  };
}
