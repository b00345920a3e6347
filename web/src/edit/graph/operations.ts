/** What is done to selected keys by name: tangents, deletion, insertion; each is one request and one undo step. */

import type { Sender } from "./change_queue";
import { runsOf, wireChannel } from "./key_messages";
import type { Model } from "./model";
import { type KeyPlace, NOTHING, selected } from "./selection";

export type Tangents = "auto" | "flat" | "linear" | "stepped";

export interface Operations {
  tangents(how: Tangents): void;
  broken(broken: boolean): void;
  remove(): void;
  /** A key at a time on channels, where they have none; the shape stays. */
  insert(channels: readonly number[], time: number): void;
  selectAll(): void;
  selectNone(): void;
}

/** The keys that "select all" means: of the chosen channels, or of all where none is. */
export function allKeys(model: Pick<Model, "kept" | "chosen" | "lanes">, columns: boolean): KeyPlace[] {
  const places: KeyPlace[] = [];
  const add = (channel: number, column: number): void => {
    for (let key = 0; key < model.kept[channel].times.length; key++) places.push({ channel, column, key });
  };
  if (columns) for (const lane of model.lanes) add(lane.channel, lane.column);
  else for (const channel of model.chosen.length ? model.chosen : model.kept.keys()) add(channel, -1);
  return places;
}

/** `columns` says whether single columns are selected (graph) or whole keys (dope sheet). */
export function createOperations(model: Model, sender: Sender, columns: () => boolean): Operations {
  const keys = () => runsOf(model.selection, model.kept, false);
  return {
    tangents: (how) => void (model.selection.size && sender.keep({ runs: keys(), automatic: how })),
    broken: (broken) => void (model.selection.size && sender.keep({ runs: keys(), broken })),
    remove() {
      if (!model.selection.size) return;
      void sender
        .keep({ deleteRuns: runsOf(model.selection, model.kept, true) })
        .then((done) => done && model.select(NOTHING));
    },
    insert(channels, time) {
      const free = channels.filter(
        (channel) => !model.kept[channel].times.some((each) => Math.abs(each - time) < 1e-4),
      );
      if (!free.length) return;
      model.expect(free, time);
      void sender.keep({
        insert: free.map((channel) => ({
          target: model.kept[channel].target,
          channel: wireChannel(model.kept[channel], channel),
          time,
          column: null,
          value: null,
        })),
      });
    },
    selectAll: () => model.select(selected(NOTHING, model.kept, allKeys(model, columns()), "replace")),
    selectNone: () => model.select(NOTHING),
  };
}
