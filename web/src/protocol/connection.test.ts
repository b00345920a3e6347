import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backoff, connect, RequestError, socketAddress } from "./connection";
import { frameHeader } from "./frame";
import { FRAME } from "./messages";
import type { Socket } from "./socket";

class FakeSocket {
  static all: FakeSocket[] = [];
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onopen: () => void = () => {};
  onclose: () => void = () => {};
  onmessage: (message: { data: unknown }) => void = () => {};
  constructor(readonly address: string) {
    FakeSocket.all.push(this);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  open() {
    this.readyState = 1;
    this.onopen();
  }
  lose() {
    this.readyState = 3;
    this.onclose();
  }
  close() {
    this.lose();
  }
  say(event: object) {
    this.onmessage({ data: JSON.stringify(event) });
  }
}

const newest = () => FakeSocket.all[FakeSocket.all.length - 1];
const start = () => connect("ws://x/live", (address) => new FakeSocket(address) as unknown as Socket);

describe("connection", () => {
  beforeEach(() => {
    FakeSocket.all = [];
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it("gives each request the answer with its number, in any order", async () => {
    const connection = start();
    newest().open();
    const undo = connection.request({ kind: "undo" });
    const ping = connection.request({ kind: "ping" });
    await vi.advanceTimersByTimeAsync(0);
    const [first, second] = newest().sent;
    expect(first.id).not.toBe(second.id);
    newest().say({ kind: "done", id: second.id, result: { seconds: 3 } });
    newest().say({ kind: "failed", id: first.id, sentence: "Nothing to undo.", hint: "Go on." });
    await expect(ping).resolves.toEqual({ seconds: 3 });
    await expect(undo).rejects.toMatchObject({ sentence: "Nothing to undo.", hint: "Go on." });
  });

  it("reports when requests are pending, and when all are answered", async () => {
    const connection = start();
    newest().open();
    const heard: boolean[] = [];
    connection.onPending((asking) => heard.push(asking));
    const both = [connection.request({ kind: "ping" }), connection.request({ kind: "undo" })];
    await vi.advanceTimersByTimeAsync(0);
    expect(heard).toEqual([true]);
    for (const { id } of newest().sent) newest().say({ kind: "done", id, result: null });
    await Promise.all(both);
    expect(heard).toEqual([true, false]);
  });

  it("reconnects after a loss and reports the state", async () => {
    const connection = start();
    const states: string[] = [];
    connection.onState((state) => states.push(state));
    newest().open();
    newest().lose();
    await vi.advanceTimersByTimeAsync(backoff(0) + 1);
    expect(FakeSocket.all).toHaveLength(2);
    newest().lose();
    await vi.advanceTimersByTimeAsync(backoff(1) + 1);
    newest().open();
    expect(states).toEqual(["live", "lost", "live"]);
    connection.close();
    await vi.advanceTimersByTimeAsync(20000);
    expect(FakeSocket.all).toHaveLength(3);
  });

  it("rejects requests from before a loss, and sends those made during it", async () => {
    const connection = start();
    newest().open();
    const before = connection.request({ kind: "undo" });
    await vi.advanceTimersByTimeAsync(0);
    const refused = expect(before).rejects.toBeInstanceOf(RequestError);
    newest().lose();
    await refused;
    const during = connection.request({ kind: "ping" });
    connection.send({ kind: "seen", sequence: 1 });
    await vi.advanceTimersByTimeAsync(backoff(0) + 1);
    newest().open();
    await vi.advanceTimersByTimeAsync(0);
    expect(newest().sent.map((message) => message.kind)).toEqual(["ping"]);
    newest().say({ kind: "done", id: newest().sent[0].id, result: { seconds: 1 } });
    await expect(during).resolves.toEqual({ seconds: 1 });
  });

  it("rejects a request if the server stays away", async () => {
    const connection = start();
    const rejection = expect(connection.request({ kind: "undo" })).rejects.toBeInstanceOf(RequestError);
    await vi.advanceTimersByTimeAsync(10000);
    await rejection;
  });

  it("waits longer each time, up to a limit", () => {
    expect(backoff(1)).toBe(2 * backoff(0));
    expect(backoff(50)).toBeLessThanOrEqual(5000);
  });

  it("has its address beside the page", () => {
    expect(socketAddress("http://127.0.0.1:7860/#play")).toBe("ws://127.0.0.1:7860/live");
    expect(socketAddress("https://host/a/?token=x#y")).toBe("wss://host/a/live?token=x");
  });
});

describe("frameHeader", () => {
  it("parses frames of the server, and refuses other bytes", () => {
    const data = new ArrayBuffer(FRAME.header + 8);
    const view = new DataView(data);
    view.setUint32(0, FRAME.magic, true);
    view.setUint32(8, 7, true);
    view.setUint32(12, FRAME.joints, true);
    view.setFloat64(16, 1.25, true);
    expect(frameHeader(data)).toEqual({ stream: 0, sequence: 7, form: FRAME.joints, time: 1.25 });
    view.setUint32(0, 1, true);
    expect(frameHeader(data)).toBeNull();
    expect(frameHeader(new ArrayBuffer(3))).toBeNull();
  });
});
