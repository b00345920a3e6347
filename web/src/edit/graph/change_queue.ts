/**
 * Changes on their way to the server: shown while a gesture goes on, the newest at most once a picture; then kept as
 * one step.
 */
import type { EditSession } from "../session";
import type { KeysMessage } from "./key_messages";

export interface Sender {
  /** Shows what a gesture has come to; the message is made only if it is sent. */
  show(message: () => KeysMessage): void;
  /** Keeps it as one undo step; false where the server refuses. */
  keep(message: KeysMessage): Promise<boolean>;
  abandon(): void;
}

export function createSender(session: EditSession): Sender {
  let newest: (() => KeysMessage) | null = null;
  let number = 0;
  let shown = false;
  return {
    show(message) {
      if (!newest) {
        requestAnimationFrame(() => {
          if (newest) session.tell({ kind: "editKeys", ...newest(), final: false, number: ++number });
          shown ||= newest !== null;
          newest = null;
        });
      }
      newest = message;
    },
    async keep(message) {
      newest = null;
      shown = false;
      return (await session.ask({ kind: "editKeys", ...message, final: true, number: ++number })) !== null;
    },
    abandon() {
      newest = null;
      if (shown) session.tell({ kind: "editAbandon" });
      shown = false;
    },
  };
}
