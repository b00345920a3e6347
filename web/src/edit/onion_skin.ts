/** Ghosts: asks for the poses around now, and lays them on stage while nothing plays or is dragged. */
import type { Context } from "../context";
import { frameHeader } from "../protocol/frame";
import { FRAME } from "../protocol/messages";
import type { EditActions } from "./actions";
import type { Gestures } from "./drag";
import type { EditSession } from "./session";
import type { Display, EditView } from "./view";

const SOON = 80; // ms that the time has to rest

/** The times of ghosts around now, seconds: some frames apart, or at keys. */
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

export function createGhosting(
  { stage, store, connection }: Context,
  session: EditSession,
  view: EditView,
  actions: EditActions,
  gestures: Gestures,
): { awake: boolean } {
  let awake = false;
  let timer = 0;
  let asked = "";

  function update(): void {
    timer = 0;
    const state = session.state;
    const wanted =
      awake && state && !state.baked && !store.document?.stage.playing
        ? ghostTimes(store.time, view.display, state.seconds, state.rate, actions.keyTimes())
        : [];
    const key = JSON.stringify([wanted, state?.revision, state?.edit]);
    if (key === asked || gestures.going) return;
    const before = asked;
    asked = key;
    if (!wanted.length) {
      stage.ghosts(null, 0);
      if (before === "" || before.startsWith("[[]")) return; // none were there
    }
    if (state) void session.ask({ kind: "editGhosts", times: wanted });
  }
  const soon = (): void => {
    if (!timer) timer = window.setTimeout(update, SOON);
  };

  connection.onFrame((data) => {
    const header = frameHeader(data);
    if (header?.stream !== FRAME.ghostsStream) return;
    stage.ghosts(awake && view.display.ghosts ? data : null, store.time);
    connection.tell({ kind: "seen", sequence: header.sequence, stream: header.stream });
  });
  store.onTime(soon);
  store.onDocument(soon);
  session.onState(soon);
  view.onChange(soon);
  gestures.onChange(soon);
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
