/**
 * A WebSocket in a worker, used like one of the page's own. A frame has a quarter of a megabyte, and the browser hands
 * it over in pieces: in a page that is busy drawing each piece waits its turn, and whatever comes after it as well.
 */
import type { Command, Report } from "./socket_worker";

const [CONNECTING, OPEN, CLOSED] = [0, 1, 3] as const;

/** What a connection needs of a socket. */
export type Socket = Pick<WebSocket, "readyState" | "send" | "close"> & {
  onopen: (() => void) | null;
  onclose: (() => void) | null;
  onmessage: ((message: { data: string | ArrayBuffer }) => void) | null;
};

/** What a socket needs of a worker. */
export type SocketWorker = Pick<Worker, "onmessage" | "onerror"> & { postMessage(command: Command): void };

/** Gives a function that opens sockets, all of them in one worker; one that cannot be loaded closes them. */
export function socketsIn(start: () => SocketWorker): (address: string) => Socket {
  const open = new Map<number, Socket & { readyState: 0 | 1 | 2 | 3 }>();
  let worker: SocketWorker | null = null;
  let numbers = 0;

  function closed(number: number): void {
    const socket = open.get(number);
    if (!open.delete(number) || !socket) return;
    socket.readyState = CLOSED;
    socket.onclose?.();
  }

  function begin(): SocketWorker {
    const made = start();
    made.onmessage = ({ data: report }: MessageEvent<Report>) => {
      const socket = open.get(report.socket);
      if ("data" in report) socket?.onmessage?.({ data: report.data });
      else if (report.is === "closed") closed(report.socket);
      else if (socket) {
        socket.readyState = OPEN;
        socket.onopen?.();
      }
    };
    made.onerror = () => {
      worker = null;
      for (const number of [...open.keys()]) closed(number);
    };
    return made;
  }

  return (address) => {
    const number = ++numbers;
    worker ??= begin();
    const mine = worker;
    const socket = {
      readyState: CONNECTING,
      onopen: null,
      onclose: null,
      onmessage: null,
      send: (data: string) => mine.postMessage({ socket: number, send: data }),
      close: () => mine.postMessage({ socket: number, close: true }),
    } as Socket & { readyState: 0 | 1 | 2 | 3 };
    open.set(number, socket);
    mine.postMessage({ socket: number, open: address });
    return socket;
  };
}
