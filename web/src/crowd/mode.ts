/** The crowd mode: many live characters of one model, each with a will of its own. */
import "./crowd.css";
import type { Context } from "../context";
import { slider } from "../controls/slider";
import { h, replace } from "../dom";
import type { Mode } from "../modes/mode";
import type { ModelEntry } from "../protocol/messages";
import type { View } from "../stage/api";
import { costLine } from "./cost";

const EVERY = 100; // ms between two looks of a hundred characters
const FINE = 8000; // vertices of one character where a graphics card draws
const COARSE = 2200; // and where the processor does

export function crowdMode(context: Context): Mode {
  const { stage, connection, store, notices } = context;
  let before: View | null = null; // where the camera was
  let on = false;
  let count = 100;
  let seed = 1;
  let follows = true;
  let shown = ""; // the model and seed that the stage shows
  let asking = 0;
  const cost = h("p", { class: "crowd-cost", role: "status", "aria-live": "off" });
  const empty = h("p", { class: "muted hidden" }, "A crowd performs a model. Learn one in Perform, then come back.");
  const number = slider({
    label: "Characters",
    value: count,
    minimum: 1,
    maximum: 400,
    step: 1,
    reset: 100,
    about: "How many are on stage; the cost is shown below",
    change: (value) => {
      count = Math.round(value);
      void gather();
    },
  });
  const others = h("button", { type: "button", onclick: () => void reseed() }, "Other characters");
  const looking = h("input", { type: "checkbox", id: "crowd-look" });
  looking.checked = follows;
  const controls = h(
    "div",
    { class: "crowd-controls" },
    number.element,
    h("label", { class: "crowd-check", for: "crowd-look" }, looking, "All look at the pointer"),
    others,
    cost,
  );

  function model(): ModelEntry | null {
    const document = store.document;
    if (!document) return null;
    const own =
      document.stage.driver === "model" ? document.models.find((each) => each.id === document.stage.drives) : undefined;
    return (
      own ?? document.models.find((each) => each.character === document.stage.character) ?? document.models[0] ?? null
    );
  }

  function reseed(): Promise<void> {
    seed = 1 + Math.floor(Math.random() * 1e6);
    return gather();
  }

  function setCount(next: number): Promise<void> {
    count = next;
    number.value = next;
    return gather();
  }

  async function gather(): Promise<void> {
    const entry = model();
    empty.classList.toggle("hidden", entry !== null);
    controls.classList.toggle("hidden", entry === null);
    if (!on || !entry) return;
    const turn = ++asking;
    if (!shown) replace(cost, "The crowd is gathering…");
    try {
      const vertices = stage.software ? COARSE : FINE;
      const answer = await connection.request({ kind: "crowd", model: entry.id, count, seed, vertices });
      if (turn !== asking || !on) return;
      const key = `${entry.id} ${seed}`;
      if (shown === key) return stage.crowdRoom(answer.low, answer.high);
      const found = await fetch(answer.address, { cache: "no-store" });
      if (!found.ok) throw new Error("what a crowd looks like could not be fetched");
      const description = await found.arrayBuffer();
      if (turn !== asking || !on) return;
      await stage.crowd(description, (picture) => `${answer.address}/texture/${picture}`);
      shown = key;
    } catch (reason) {
      notices.failed(reason);
    }
  }

  let timer = 0;
  let last = 0;
  let at: { x: number; y: number } | null = null;
  function look(): void {
    timer = 0;
    last = performance.now();
    if (!on || !follows) return;
    connection.tell({ kind: "crowdLook", point: at && stage.pointerRay(at.x, at.y).point });
  }
  function soon(): void {
    if (!timer) timer = window.setTimeout(look, Math.max(0, EVERY - (performance.now() - last)));
  }
  stage.canvas.addEventListener("pointermove", (event) => {
    if (!on || !follows || event.buttons) return;
    const box = stage.canvas.getBoundingClientRect();
    at = { x: event.clientX - box.left, y: event.clientY - box.top };
    soon();
  });
  stage.canvas.addEventListener("pointerleave", () => {
    at = null;
    if (on && follows) soon();
  });
  looking.addEventListener("change", () => {
    follows = looking.checked;
    if (!follows && on) connection.tell({ kind: "crowdLook", point: null });
  });
  connection.on("crowdStats", (stats) => {
    if (on) replace(cost, costLine(stats, stage.stats().fps));
  });
  connection.onState((state) => {
    if (state !== "live" || !on) return;
    shown = "";
    void gather();
  });

  return {
    id: "crowd",
    title: "Crowd",
    commands: [
      { id: "crowd.others", title: "Other characters in the crowd", run: () => reseed() },
      {
        id: "crowd.more",
        title: "Twice as many in the crowd",
        enabled: () => count < 400,
        run: () => setCount(Math.min(400, 2 * count)),
      },
      {
        id: "crowd.fewer",
        title: "Half as many in the crowd",
        enabled: () => count > 1,
        run: () => setCount(Math.max(1, Math.round(count / 2))),
      },
    ],
    panel(host) {
      host.classList.add("crowd");
      host.append(empty, controls);
      store.onDocument(() => {
        empty.classList.toggle("hidden", model() !== null);
        controls.classList.toggle("hidden", model() === null);
      });
    },
    enter() {
      on = true;
      before = stage.view;
      void gather();
    },
    leave() {
      on = false;
      shown = "";
      asking += 1;
      connection.request({ kind: "endCrowd" }).catch(notices.failed);
      stage.crowd(null, () => "").catch(notices.failed);
      if (before) stage.view = before; // of all of them one would be a speck
    },
  };
}
