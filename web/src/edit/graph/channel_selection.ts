/**
 * Which channels are chosen, in step with the selection that all views share; and that the server sends their curves.
 */
import type { Context } from "../../context";
import type { EditSession } from "../session";
import { targetsOf } from "./framing";
import { wireChannel } from "./key_messages";
import type { Model } from "./model";

const MOST_CHANNELS = 400; // that the server sends at once

export interface Choosing {
  /** Chooses channels here, and selects their joints everywhere. */
  choose(channels: readonly number[]): void;
  /** The joints that are selected elsewhere choose their channels here; true where that is something else. */
  follow(names: readonly string[]): boolean;
  /** Asks for the curves of the chosen channels, or for none. */
  ask(curves: boolean): void;
  /** The server knows nothing of what was asked before. */
  forget(): void;
}

export function createChoosing(
  { stage, store, connection, notices }: Context,
  session: EditSession,
  model: Model,
): Choosing {
  let asked = "";
  /** The joint itself, or the nearest one above it that has channels: a tip has none of its own. */
  const moving = (name: string): string => {
    for (let joint = name; joint; joint = stage.jointAbove(joint))
      if (model.kept.some((channel) => channel.target === joint)) return joint;
    return "";
  };
  return {
    choose(channels) {
      model.choose(channels);
      const names = targetsOf(model.kept, channels);
      const now = store.document?.selection ?? [];
      if (names.join("\n") !== [...now].sort().join("\n"))
        connection.request({ kind: "select", names }).catch(notices.failed);
    },
    follow(names) {
      const known = [...new Set(names.map(moving).filter(Boolean))].sort();
      if (!known.length || known.join("\n") === targetsOf(model.kept, model.chosen).join("\n")) return false;
      model.choose(model.kept.flatMap((channel, number) => (known.includes(channel.target) ? [number] : [])));
      return true;
    },
    ask(curves) {
      if (!model.state || model.state.baked) return;
      const wanted = curves ? model.chosen.slice(0, MOST_CHANNELS) : [];
      const channels = wanted.map((number) => ({
        target: model.kept[number].target,
        channel: wireChannel(model.kept[number], number),
      }));
      const message = `${model.state.edit} ${JSON.stringify(channels)}`;
      if (message === asked) return;
      asked = message;
      void session.ask({ kind: "editGraph", channels, start: null, stop: null, samples: 512 });
    },
    forget() {
      asked = "";
    },
  };
}
