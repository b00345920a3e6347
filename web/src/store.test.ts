import { describe, expect, it } from "vitest";
import type { Connection } from "./protocol/connection";
import { type Document, FRAME } from "./protocol/messages";
import { createStore } from "./store";

function fakeConnection() {
  const listeners = new Map<string, (event: never) => void>();
  let onFrame: (data: ArrayBuffer) => void = () => {};
  const connection = {
    on: (kind: string, listener: (event: never) => void) => listeners.set(kind, listener),
    onFrame: (listener: (data: ArrayBuffer) => void) => (onFrame = listener),
  } as unknown as Connection;
  const frame = (time: number, stream = 0) => {
    const data = new ArrayBuffer(FRAME.header);
    const view = new DataView(data);
    view.setUint32(0, FRAME.magic, true);
    view.setUint32(4, stream, true);
    view.setFloat64(16, time, true);
    onFrame(data);
  };
  return { connection, frame, say: (kind: string, event: object) => listeners.get(kind)?.(event as never) };
}

const clip = { name: "walk", title: "Walk", seconds: 2 };
const document = (stage: object) =>
  ({
    characters: [{ id: "a", clips: [clip] }],
    takes: [{ id: "t" }],
    stage: { character: "a", driver: "clip", drives: "walk", time: 0, playing: true, ...stage },
  }) as unknown as Document;

describe("store", () => {
  it("has the character on stage and its driver", () => {
    const { connection, say } = fakeConnection();
    const store = createStore(connection);
    expect([store.character(), store.clip(), store.take()]).toEqual([null, null, null]);
    say("document", { document: document({}), canUndo: true, canRedo: false, undoes: "open", redoes: "" });
    expect([store.character()?.id, store.clip()?.name, store.take()]).toEqual(["a", "walk", null]);
    expect([store.canUndo, store.undoes]).toEqual([true, "open"]);
    say("document", { document: document({ driver: "take", drives: "t" }), canUndo: false, canRedo: false });
    expect([store.clip(), store.take()?.id]).toEqual([null, "t"]);
  });

  it("takes the time from the stage's frames while playing, and from the document while paused", () => {
    const { connection, say, frame } = fakeConnection();
    const store = createStore(connection);
    say("document", { document: document({}) });
    frame(0.5);
    frame(9, 1); // the crowd has another clock
    expect(store.time).toBe(0.5);
    say("document", { document: document({ rate: 2 }) }); // contains no new time
    expect(store.time).toBe(0.5);
    say("document", { document: document({ playing: false, time: 0.7 }) });
    expect(store.time).toBe(0.7);
  });

  it("does not jump back to an old time while a scrub is ahead of the server", () => {
    const { connection, frame } = fakeConnection();
    const store = createStore(connection);
    const heard: number[] = [];
    store.onTime((time) => heard.push(time));
    store.predictTime(1);
    frame(0.2);
    store.predictTime(1.1);
    store.endPrediction();
    frame(1.15);
    expect(heard).toEqual([1, 1.1, 1.15]);
  });
});
