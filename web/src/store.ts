/** What the page knows: the server's document as it last said it, the time of the newest frame, and page settings. */
import type { Connection } from "./protocol/connection";
import { frameHeader } from "./protocol/frame";
import type { CharacterEntry, ClipEntry, Document, EditEntry, HelloEvent, TakeEntry } from "./protocol/messages";

export type { Document };

export interface Store {
  readonly document: Document | null;
  readonly hello: HelloEvent | null;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly undoes: string; // what the next undo takes back
  readonly redoes: string;
  /** The time on stage, seconds from the beginning of what plays. */
  readonly time: number;
  /** The character on stage, and the clip or take that drives it. */
  character(): CharacterEntry | null;
  clip(): ClipEntry | null;
  take(): TakeEntry | null;
  /** The edit on stage. */
  edit(): EditEntry | null;
  /** Called with the document at once where there is one, then after each change of it. */
  onDocument(listener: (document: Document) => void): () => void;
  onHello(listener: (hello: HelloEvent) => void): () => void;
  /** Called with each new time; at most once a frame. */
  onTime(listener: (time: number) => void): () => void;
  /**
   * Says a time before the server does, so that a scrub answers at once; what it says meanwhile is old, until `agree`.
   */
  anticipate(time: number): void;
  agree(): void;
}

export function createStore(connection: Connection): Store {
  const documents = new Set<(document: Document) => void>();
  const hellos = new Set<(hello: HelloEvent) => void>();
  const times = new Set<(time: number) => void>();
  let document: Document | null = null;
  let hello: HelloEvent | null = null;
  let flags = { canUndo: false, canRedo: false, undoes: "", redoes: "" };
  let time = 0;
  let ahead = false; // the page's time is newer than the server's

  function hear(next: number): void {
    if (!ahead) setTime(next);
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
    if (moved || !stage.playing) hear(stage.time);
  });
  connection.onFrame((data) => {
    const header = frameHeader(data);
    if (header?.stream === 0) hear(header.time);
  });

  const character = () => document?.characters.find((each) => each.id === document?.stage.character) ?? null;
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
        ? (character()?.clips.find((each) => each.name === document?.stage.drives) ?? null)
        : null,
    take: () =>
      document?.stage.driver === "take"
        ? (document.takes.find((each) => each.id === document?.stage.drives) ?? null)
        : null,
    edit: () =>
      document?.stage.driver === "edit"
        ? (document.edits.find((each) => each.id === document?.stage.drives) ?? null)
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
    anticipate(next) {
      ahead = true;
      setTime(next);
    },
    agree() {
      ahead = false;
    },
  };
}
