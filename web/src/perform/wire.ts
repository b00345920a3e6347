/** The messages that this mode works with, under short names. */
export type {
  CharacterEntry,
  JobChangedEvent as JobEvent,
  ModelEntry,
  PerformingEvent,
  TakeEntry,
} from "../protocol/messages";
