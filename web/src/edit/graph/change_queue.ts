/** Sends changes to the server: during a drag the newest one, at most once per animation frame; then one commit. */
import type { EditSession } from "../session";
import type { KeysMessage } from "./key_messages";

export interface ChangeQueue {
  /** Previews a drag; the message is only created if it is sent. */
  preview(message: () => KeysMessage): void;
  /** Commits it as one undo step; returns false if the server refuses. */
  commit(message: KeysMessage): Promise<boolean>;
  abandon(): void;
}

export function createChangeQueue(session: EditSession): ChangeQueue {
  let newest: (() => KeysMessage) | null = null;
  let number = 0;
  let shown = false;
  return {
    preview(message) {
      if (!newest) {
        requestAnimationFrame(() => {
          if (newest) session.tell({ kind: "editKeys", ...newest(), final: false, number: ++number });
          shown ||= newest !== null;
          newest = null;
        });
      }
      newest = message;
    },
    async commit(message) {
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
