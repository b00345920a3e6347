/** The messages that this mode works with, under short names. */
export type { CharacterEntry, ModelEntry, PerformingEvent, TakeEntry } from "../protocol/messages";
export type { JobChangedEvent as JobEvent } from "../protocol/messages";
