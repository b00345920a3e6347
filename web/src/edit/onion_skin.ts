/** Onion skin: requests the poses around the current time, and shows them while nothing plays or is dragged. */
import type { Context } from "../context";
import { frameHeader } from "../protocol/frame";
import { FRAME } from "../protocol/messages";
import type { EditActions } from "./actions";
import type { DragController } from "./drag";
import type { EditSession } from "./session";
import type { Display, EditView } from "./view";

const DELAY_MS = 80; // without a change of time

/** The times of ghosts around the current time, seconds: some frames apart, or at keys. */
export function ghostTimes(
  now: number,
  { ghosts, apart }: Pick<Display, "ghosts" | "apart">,
  seconds: number,
  rate: number,
  keys: readonly number[],
): number[] {
  if (apart === 0) {
    const before = keys.filter((time) => time < now - 1e-3).slice(-ghosts);
    const after = keys.filter((time) => time > now + 1e-3).slice(0, ghosts);
    return ghosts ? [...before, ...after] : [];
  }
  const steps = Array.from({ length: ghosts }, (_, i) => ((i + 1) * apart) / Math.max(1, rate));
  return [...steps.map((step) => now - step).reverse(), ...steps.map((step) => now + step)].filter(
    (time) => time >= 0 && time <= seconds,
  );
}

export function createOnionSkin(
  { stage, store, connection }: Context,
  session: EditSession,
  view: EditView,
  actions: EditActions,
  drags: DragController,
): { awake: boolean } {
  let awake = false;
  let timer = 0;
  let requestedKey = "";

  function update(): void {
    timer = 0;
    const state = session.state;
    const wanted =
      awake && state && !store.document?.stage.playing
        ? ghostTimes(store.time, view.display, state.seconds, state.rate, actions.keyTimes())
        : [];
    const key = JSON.stringify([wanted, state?.revision, state?.edit]);
    if (key === requestedKey || drags.active) return;
    const before = requestedKey;
    requestedKey = key;
    if (!wanted.length) {
      stage.ghosts(null, 0);
      if (before === "" || before.startsWith("[[]")) return; // there were none before
    }
    if (state) void session.ask({ kind: "editGhosts", times: wanted });
  }
  const scheduleUpdate = (): void => {
    if (!timer) timer = window.setTimeout(update, DELAY_MS);
  };

  connection.onFrame((data) => {
    const header = frameHeader(data);
    if (header?.stream !== FRAME.ghostsStream) return;
    stage.ghosts(awake && view.display.ghosts ? data : null, store.time);
    connection.send({ kind: "seen", sequence: header.sequence, stream: header.stream });
  });
  store.onTime(scheduleUpdate);
  store.onDocument(scheduleUpdate);
  session.onState(scheduleUpdate);
  view.onChange(scheduleUpdate);
  drags.onChange(scheduleUpdate);
  return {
    get awake() {
      return awake;
    },
    set awake(next) {
      awake = next;
      update();
    },
  };
}
