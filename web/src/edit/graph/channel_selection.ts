/** The chosen channels, in sync with the selection that all views share, and the request for their curves. */
import type { Context } from "../../context";
import type { EditSession } from "../session";
import { targetsOf } from "./framing";
import { wireChannel } from "./key_messages";
import type { Model } from "./model";

const MAX_CHANNELS = 400; // that the server sends at once

export interface ChannelSelection {
  /** Chooses channels, and selects their joints in all views. */
  choose(channels: readonly number[]): void;
  /** Chooses the channels of joints that were selected elsewhere; returns whether that is a change. */
  followJoints(names: readonly string[]): boolean;
  /** Requests the curves of the chosen channels, or none. */
  requestCurves(curves: boolean): void;
  /** Clears the last request, after the server has changed. */
  reset(): void;
}

export function createChannelSelection(
  { stage, store, connection, notices }: Context,
  session: EditSession,
  model: Model,
): ChannelSelection {
  let requestedKey = "";
  /** The joint, or its nearest ancestor with channels: a tip has none. */
  const jointWithChannels = (name: string): string => {
    for (let joint = name; joint; joint = stage.parentJoint(joint))
      if (model.kept.some((channel) => channel.target === joint)) return joint;
    return "";
  };
  return {
    choose(channels) {
      model.choose(channels);
      const names = targetsOf(model.kept, channels);
      const now = store.document?.selection ?? [];
      if (names.join("\n") !== [...now].sort().join("\n"))
        connection.request({ kind: "select", names }).catch(notices.showError);
    },
    followJoints(names) {
      const known = [...new Set(names.map(jointWithChannels).filter(Boolean))].sort();
      if (!known.length || known.join("\n") === targetsOf(model.kept, model.chosen).join("\n")) return false;
      model.choose(model.kept.flatMap((channel, number) => (known.includes(channel.target) ? [number] : [])));
      return true;
    },
    requestCurves(curves) {
      if (!model.state || model.state.baked) return;
      const wanted = curves ? model.chosen.slice(0, MAX_CHANNELS) : [];
      const channels = wanted.map((number) => ({
        target: model.kept[number].target,
        channel: wireChannel(model.kept[number], number),
      }));
      const message = `${model.state.edit} ${JSON.stringify(channels)}`;
      if (message === requestedKey) return;
      requestedKey = message;
      void session.ask({ kind: "editGraph", channels, start: null, stop: null, samples: 512 });
    },
    reset() {
      requestedKey = "";
    },
  };
}
