import { describe, expect, it } from "vitest";
import { createSocketOpener, type SocketWorker } from "./socket";
import type { Command, Report } from "./socket_worker";

function workers() {
  const all: (SocketWorker & { told: Command[]; say(report: Report): void })[] = [];
  const start = () => {
    const commands: Command[] = [];
    const worker: (typeof all)[number] = {
      told: commands,
      onmessage: null,
      onerror: null,
      postMessage: (command: Command) => void commands.push(command),
      say: (report) => worker.onmessage?.call(worker as never, { data: report } as MessageEvent),
    };
    all.push(worker);
    return worker;
  };
  return { all, open: createSocketOpener(start) };
}

describe("sockets in a worker", () => {
  it("opens, sends, receives and closes by number", () => {
    const { all, open } = workers();
    const [first, second] = [open("ws://x/live"), open("ws://x/live")];
    const heard: unknown[] = [];
    second.onmessage = ({ data }) => heard.push(data);
    second.onopen = () => heard.push("open");
    second.onclose = () => heard.push("closed");
    expect(first.readyState).toBe(0);
    all[0].say({ socket: 2, is: "open" });
    expect([first.readyState, second.readyState]).toEqual([0, 1]);
    second.send("hello");
    all[0].say({ socket: 2, data: "there" });
    second.close();
    all[0].say({ socket: 2, is: "closed" });
    all[0].say({ socket: 2, data: "late" });
    expect(heard).toEqual(["open", "there", "closed"]);
    expect(second.readyState).toBe(3);
    expect(all.length).toBe(1);
    expect(all[0].told.slice(2)).toEqual([
      { socket: 2, send: "hello" },
      { socket: 2, close: true },
    ]);
  });

  it("closes the sockets of a worker that cannot be loaded, and starts another", () => {
    const { all, open } = workers();
    let lost = 0;
    open("ws://x/live").onclose = () => (lost += 1);
    all[0].onerror?.call(all[0] as never, new Event("error") as ErrorEvent);
    expect(lost).toBe(1);
    open("ws://x/live");
    expect(all.length).toBe(2);
    expect(all[1].told).toEqual([{ socket: 2, open: "ws://x/live" }]);
  });
});
