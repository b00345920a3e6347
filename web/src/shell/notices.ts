/** Notices: what happened, in one sentence, and what to do next. */

export type Level = "info" | "warning" | "error";

export interface Notices {
  /** Shows a sentence; errors stay until closed, others leave by themselves. */
  show(level: Level, sentence: string, hint?: string): void;
  /** Shows why something failed; anything thrown may be given. */
  failed(reason: unknown): void;
}
