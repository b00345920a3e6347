/** The messages of this mode, under short names. */
export type {
  CharacterEntry,
  JobChangedEvent as JobEvent,
  ModelEntry,
  PerformanceStatusEvent,
  TakeEntry,
} from "../protocol/messages";
