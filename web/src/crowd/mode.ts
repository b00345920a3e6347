/** The crowd mode: many live instances of one model, each with its own random state. */
import "./crowd.css";
import type { Context } from "../context";
import { slider } from "../controls/slider";
import { h, replace } from "../dom";
import type { Mode } from "../modes/mode";
import type { ModelEntry } from "../protocol/messages";
import type { View } from "../stage/api";
import { costLine } from "./cost";

const LOOK_INTERVAL_MS = 100; // between two gaze targets
const VERTICES_HARDWARE = 8000; // of one character
const VERTICES_SOFTWARE = 2200; // the same with software rendering

export function crowdMode(context: Context): Mode {
  const { stage, connection, store, notices } = context;
  let viewBefore: View | null = null; // the view of the camera before the mode
  let on = false;
  let count = 100;
  let seed = 1;
  let follows = true;
  let shownKey = ""; // model and seed of the crowd on stage
  let requestCount = 0;
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
      void showCrowd();
    },
  });
  const reseedButton = h("button", { type: "button", onclick: () => void reseed() }, "Other characters");
  const lookBox = h("input", { type: "checkbox", id: "crowd-look" });
  lookBox.checked = follows;
  const controls = h(
    "div",
    { class: "crowd-controls" },
    number.element,
    h("label", { class: "crowd-check", for: "crowd-look" }, lookBox, "All look at the pointer"),
    reseedButton,
    cost,
  );

  function model(): ModelEntry | null {
    const document = store.document;
    if (!document) return null;
    const driving =
      document.stage.driver === "model"
        ? document.models.find((entry) => entry.id === document.stage.drives)
        : undefined;
    return (
      driving ??
      document.models.find((entry) => entry.character === document.stage.character) ??
      document.models[0] ??
      null
    );
  }

  function reseed(): Promise<void> {
    seed = 1 + Math.floor(Math.random() * 1e6);
    return showCrowd();
  }

  function setCount(next: number): Promise<void> {
    count = next;
    number.value = next;
    return showCrowd();
  }

  async function showCrowd(): Promise<void> {
    const entry = model();
    empty.classList.toggle("hidden", entry !== null);
    controls.classList.toggle("hidden", entry === null);
    if (!on || !entry) return;
    const turn = ++requestCount;
    if (!shownKey) replace(cost, "The crowd is gathering…");
    try {
      const vertices = stage.software ? VERTICES_SOFTWARE : VERTICES_HARDWARE;
      const answer = await connection.request({ kind: "crowd", model: entry.id, count, seed, vertices });
      if (turn !== requestCount || !on) return;
      const key = `${entry.id} ${seed}`;
      if (shownKey === key) return stage.setCrowdBounds(answer.low, answer.high);
      const response = await fetch(answer.address, { cache: "no-store" });
      if (!response.ok) throw new Error("the description of the crowd could not be fetched");
      const description = await response.arrayBuffer();
      if (turn !== requestCount || !on) return;
      await stage.crowd(description, (picture) => `${answer.address}/texture/${picture}`);
      shownKey = key;
    } catch (reason) {
      notices.showError(reason);
    }
  }

  let timer = 0;
  let last = 0;
  let at: { x: number; y: number } | null = null;
  function sendLook(): void {
    timer = 0;
    last = performance.now();
    if (!on || !follows) return;
    connection.send({ kind: "crowdLook", point: at && stage.pointerRay(at.x, at.y).point });
  }
  function scheduleLook(): void {
    if (!timer) timer = window.setTimeout(sendLook, Math.max(0, LOOK_INTERVAL_MS - (performance.now() - last)));
  }
  stage.canvas.addEventListener("pointermove", (event) => {
    if (!on || !follows || event.buttons) return;
    const box = stage.canvas.getBoundingClientRect();
    at = { x: event.clientX - box.left, y: event.clientY - box.top };
    scheduleLook();
  });
  stage.canvas.addEventListener("pointerleave", () => {
    at = null;
    if (on && follows) scheduleLook();
  });
  lookBox.addEventListener("change", () => {
    follows = lookBox.checked;
    if (!follows && on) connection.send({ kind: "crowdLook", point: null });
  });
  connection.on("crowdStats", (stats) => {
    if (on) replace(cost, costLine(stats, stage.stats().fps));
  });
  connection.onState((state) => {
    if (state !== "live" || !on) return;
    shownKey = "";
    void showCrowd();
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
      viewBefore = stage.view;
      void showCrowd();
    },
    leave() {
      on = false;
      shownKey = "";
      requestCount += 1;
      connection.request({ kind: "endCrowd" }).catch(notices.showError);
      stage.crowd(null, () => "").catch(notices.showError);
      if (viewBefore) stage.view = viewBefore; // the crowd's view would show one character as a dot
    },
  };
}
