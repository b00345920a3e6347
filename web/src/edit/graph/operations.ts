/** Operations on selected keys: tangents, deletion, insertion. Each is one request and one undo step. */

import type { ChangeQueue } from "./change_queue";
import { runsOf, wireChannel } from "./key_messages";
import type { Model } from "./model";
import { changeSelection, EMPTY_SELECTION, type KeyPlace } from "./selection";

export type Tangents = "auto" | "flat" | "linear" | "stepped";

export interface Operations {
  setTangents(how: Tangents): void;
  setBroken(broken: boolean): void;
  remove(): void;
  /** Inserts a key at a time on channels without one there; the shape stays. */
  insert(channels: readonly number[], time: number): void;
  selectAll(): void;
  selectNone(): void;
}

/** The keys of "select all": of the chosen channels, or of all if none is chosen. */
export function allKeys(model: Pick<Model, "kept" | "chosen" | "lanes">, columns: boolean): KeyPlace[] {
  const places: KeyPlace[] = [];
  const add = (channel: number, column: number): void => {
    for (let key = 0; key < model.kept[channel].times.length; key++) places.push({ channel, column, key });
  };
  if (columns) for (const lane of model.lanes) add(lane.channel, lane.column);
  else for (const channel of model.chosen.length ? model.chosen : model.kept.keys()) add(channel, -1);
  return places;
}

/** `columns` returns whether single columns (graph) or whole keys (dope sheet) are selected. */
export function createOperations(model: Model, queue: ChangeQueue, columns: () => boolean): Operations {
  const keys = () => runsOf(model.selection, model.kept, false);
  return {
    setTangents: (how) => void (model.selection.size && queue.commit({ runs: keys(), automatic: how })),
    setBroken: (broken) => void (model.selection.size && queue.commit({ runs: keys(), broken })),
    remove() {
      if (!model.selection.size) return;
      void queue
        .commit({ deleteRuns: runsOf(model.selection, model.kept, true) })
        .then((done) => done && model.select(EMPTY_SELECTION));
    },
    insert(channels, time) {
      const free = channels.filter(
        (channel) => !model.kept[channel].times.some((keyTime) => Math.abs(keyTime - time) < 1e-4),
      );
      if (!free.length) return;
      model.expect(free, time);
      void queue.commit({
        insert: free.map((channel) => ({
          target: model.kept[channel].target,
          channel: wireChannel(model.kept[channel], channel),
          time,
          column: null,
          value: null,
        })),
      });
    },
    selectAll: () => model.select(changeSelection(EMPTY_SELECTION, model.kept, allKeys(model, columns()), "replace")),
    selectNone: () => model.select(EMPTY_SELECTION),
  };
}
