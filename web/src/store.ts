/** The state of the page: the newest document from the server, the time of the newest frame, and page settings. */
import type { Connection } from "./protocol/connection";
import { frameHeader } from "./protocol/frame";
import type { CharacterEntry, ClipEntry, Document, EditEntry, HelloEvent, TakeEntry } from "./protocol/messages";

export type { Document };

export interface Store {
  readonly document: Document | null;
  readonly hello: HelloEvent | null;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly undoes: string; // what the next undo reverts
  readonly redoes: string;
  /** The time on stage, in seconds from the start of what plays. */
  readonly time: number;
  /** The character on stage, and the clip or take that drives it. */
  character(): CharacterEntry | null;
  clip(): ClipEntry | null;
  take(): TakeEntry | null;
  /** The edit on stage. */
  edit(): EditEntry | null;
  /** Called with the document at once if there is one, then after each change. */
  onDocument(listener: (document: Document) => void): () => void;
  onHello(listener: (hello: HelloEvent) => void): () => void;
  /** Called with each new time; at most once a frame. */
  onTime(listener: (time: number) => void): () => void;
  /**
   * Sets the time before the server confirms it, so that scrubbing responds at once; times from the server are ignored
   * until `endPrediction`.
   */
  predictTime(time: number): void;
  endPrediction(): void;
}

export function createStore(connection: Connection): Store {
  const documents = new Set<(document: Document) => void>();
  const hellos = new Set<(hello: HelloEvent) => void>();
  const times = new Set<(time: number) => void>();
  let document: Document | null = null;
  let hello: HelloEvent | null = null;
  let flags = { canUndo: false, canRedo: false, undoes: "", redoes: "" };
  let time = 0;
  let isPredicted = false; // the page's time is newer than the server's

  function receiveTime(next: number): void {
    if (!isPredicted) setTime(next);
  }

  function setTime(next: number): void {
    if (next === time) return;
    time = next;
    for (const listener of times) listener(time);
  }

  connection.on("hello", (event) => {
    hello = event;
    for (const listener of hellos) listener(event);
  });
  connection.on("document", (event) => {
    const before = document?.stage;
    const stage = event.document.stage;
    document = event.document;
    flags = event;
    for (const listener of documents) listener(document);
    const moved =
      !before || before.time !== stage.time || before.character !== stage.character || before.drives !== stage.drives;
    if (moved || !stage.playing) receiveTime(stage.time);
  });
  connection.onFrame((data) => {
    const header = frameHeader(data);
    if (header?.stream === 0) receiveTime(header.time);
  });

  const character = () => document?.characters.find((entry) => entry.id === document?.stage.character) ?? null;
  return {
    get document() {
      return document;
    },
    get hello() {
      return hello;
    },
    get canUndo() {
      return flags.canUndo;
    },
    get canRedo() {
      return flags.canRedo;
    },
    get undoes() {
      return flags.undoes;
    },
    get redoes() {
      return flags.redoes;
    },
    get time() {
      return time;
    },
    character,
    clip: () =>
      document?.stage.driver === "clip"
        ? (character()?.clips.find((entry) => entry.name === document?.stage.drives) ?? null)
        : null,
    take: () =>
      document?.stage.driver === "take"
        ? (document.takes.find((entry) => entry.id === document?.stage.drives) ?? null)
        : null,
    edit: () =>
      document?.stage.driver === "edit"
        ? (document.edits.find((entry) => entry.id === document?.stage.drives) ?? null)
        : null,
    onDocument(listener) {
      documents.add(listener);
      if (document) listener(document);
      return () => documents.delete(listener);
    },
    onHello(listener) {
      hellos.add(listener);
      if (hello) listener(hello);
      return () => hellos.delete(listener);
    },
    onTime(listener) {
      times.add(listener);
      return () => times.delete(listener);
    },
    predictTime(next) {
      isPredicted = true;
      setTime(next);
    },
    endPrediction() {
      isPredicted = false;
    },
  };
}
