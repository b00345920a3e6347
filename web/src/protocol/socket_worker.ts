/** The page's sockets, in a worker: they receive while the page renders. */

export type Command =
  | { socket: number; open: string }
  | { socket: number; send: string }
  | { socket: number; close: true };
export type Report = { socket: number; data: string | ArrayBuffer } | { socket: number; is: "open" | "closed" };

interface Scope {
  onmessage: ((message: MessageEvent<Command>) => void) | null;
  postMessage(report: Report, transfer?: Transferable[]): void;
}

const scope = self as unknown as Scope;
const sockets = new Map<number, WebSocket>();

function open(number: number, address: string): void {
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => scope.postMessage({ socket: number, is: "open" });
  socket.onclose = () => {
    sockets.delete(number);
    scope.postMessage({ socket: number, is: "closed" });
  };
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) =>
    scope.postMessage({ socket: number, data }, typeof data === "string" ? [] : [data]);
  sockets.set(number, socket);
}

scope.onmessage = ({ data: command }) => {
  if ("open" in command) return open(command.socket, command.open);
  const socket = sockets.get(command.socket);
  if ("close" in command) socket?.close();
  else if (socket?.readyState === WebSocket.OPEN) socket.send(command.send);
};
