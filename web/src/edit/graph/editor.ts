/** The graph editor, the dope sheet and the dial that reduces a baked clip, put together. */
import "./graph.css";
import type { Context } from "../../context";
import { showMenu } from "../../controls/menu";
import { h } from "../../dom";
import type { Command } from "../../modes/mode";
import { remember, remembered } from "../../shell/settings";
import { snapped } from "../../shell/ruler";
import { createTransport } from "../../shell/transport";
import type { GraphEditor } from "../mode";
import type { EditSession } from "../session";
import { createChannelList } from "./channel_list";
import { createDopeSurface } from "./dope_surface";
import { drawTimes } from "./draw_times";
import { deviation, framed, targetsOf } from "./framing";
import { addGestures } from "./gestures";
import { readGraph } from "./graph_file";
import { createGraphSurface } from "./graph_surface";
import type { Side } from "./handles";
import { createKeysPanel } from "./keys_panel";
import { createModel } from "./model";
import { createOperations, type Tangents } from "./operations";
import { createReduceDial } from "./reduce_dial";
import { createSender } from "./sending";
import { createSharedView } from "./shared_view";
import { wireChannel } from "./telling";
import { createToolbar, type Tab } from "./toolbar";
import { xAt } from "./view";

const MOST_CHANNELS = 400; // that the server sends at once

export function graphEditor(context: Context, session: EditSession): GraphEditor {
  const { store, connection, notices } = context;
  const transport = createTransport(context);
  const model = createModel();
  const view = createSharedView();
  const sender = createSender(session);
  const list = createChannelList(model, choose);
  const graph = createGraphSurface(model, view);
  const dope = createDopeSurface(model, view, list);
  const surfaces = { keys: dope, graph };
  const operations = createOperations(model, sender, () => tab === "graph");
  const toolbar = createToolbar(model, { go, operations, insertHere, fit });
  const dial = createReduceDial(session);
  const head = h("div", { class: "playhead" });
  const heads = h("div", { class: "playhead-window graph-heads" }, head);
  const none = h("div", { class: "graph-none muted" });
  const body = h("div", { class: "graph-body" }, list.element, h("div", { class: "graph-place" }, dope.element, graph.element, heads, none), dial.offer);
  const timeline = h("div", { class: "graph-editor", "data-testid": "graph-editor" }, toolbar.element, body);
  const panel = h("div", {}, dial.panel, createKeysPanel(model, sender));
  let tab: Tab = remembered<string>("graph.tab", "keys") === "graph" ? "graph" : "keys";
  let on = false;
  let asked = "";
  let framedEdit = "";

  function choose(channels: readonly number[]): void {
    model.choose(channels);
    fitValues();
    const names = targetsOf(model.kept, channels);
    const now = store.document?.selection ?? [];
    if (names.join("\n") !== [...now].sort().join("\n")) connection.request({ kind: "select", names }).catch(notices.failed);
  }

  function go(next: Tab): void {
    tab = next;
    remember("graph.tab", tab);
    toolbar.show(tab);
    for (const [name, surface] of Object.entries(surfaces)) {
      surface.element.classList.toggle("hidden", name !== tab);
      surface.shown = on && name === tab;
    }
    if (tab === "graph" && !model.chosen.length && model.kept.length) choose([list.rows[0] ?? 0]);
    ask();
    drawTime();
  }

  /** Asks for the curves of the chosen channels; the dope sheet needs none. */
  function ask(): void {
    if (!on || !model.state || model.state.baked) return;
    const wanted = tab === "graph" ? model.chosen.slice(0, MOST_CHANNELS) : [];
    const channels = wanted.map((number) => ({ target: model.kept[number].target, channel: wireChannel(model.kept[number], number) }));
    const message = `${model.state.edit} ${JSON.stringify(channels)}`;
    if (message === asked) return;
    asked = message;
    void session.ask({ kind: "editGraph", channels, start: null, stop: null, samples: 512 });
  }

  function fit(): void {
    const found = framed(model, tab === "graph", { start: 0, stop: model.state?.seconds ?? 1 }, view.value);
    if (found) view.value = found;
  }

  /** Fits the values alone: another channel is chosen, the times stay. */
  function fitValues(): void {
    const found = framed({ ...model, lanes: model.lanes, kept: model.kept, selection: new Map() }, true, view.value, view.value);
    if (found) view.value = { ...found, start: view.value.start, stop: view.value.stop };
  }

  function insertHere(): void {
    const rate = model.state?.rate || 30;
    const channels = model.chosen.length ? model.chosen : [...model.kept.keys()];
    operations.insert(channels, snapped(store.time, rate, { start: 0, stop: model.state?.seconds ?? 0 }));
  }

  function menu(x: number, y: number): void {
    const item = (title: string, run: () => void, about?: string) => ({ title, run, about, disabled: model.selection.size === 0 });
    showMenu({ x, y }, [
      item("Auto", () => operations.tangents("auto")),
      item("Flat", () => operations.tangents("flat")),
      item("Linear", () => operations.tangents("linear")),
      item("Stepped", () => operations.tangents("stepped")),
      item("Break tangents", () => operations.broken(true)),
      item("Unify tangents", () => operations.broken(false)),
      { ...item("Insert at the playhead", insertHere, "I"), disabled: !model.kept.length },
      item("Delete", () => operations.remove(), "Del"),
    ], "Keys");
  }

  function drawTime(): void {
    const surface = surfaces[tab];
    const area = surface.area();
    const x = xAt(view.value, { ...area, left: 0 }, store.time);
    head.style.transform = `translateX(${x.toFixed(1)}px)`;
  }

  /** Keys of the keyboard while the pointer has worked here; others go to the commands of the mode. */
  function pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey) return;
    const box = surfaces[tab].element.getBoundingClientRect();
    const does: Record<string, () => void> = {
      Delete: operations.remove,
      Backspace: operations.remove,
      x: operations.remove,
      a: event.altKey ? operations.selectNone : operations.selectAll,
      i: insertHere,
      g: () => following[tab].move(),
      s: () => following[tab].stretch(),
      f: fit,
      Home: () => {
        model.select(new Map());
        fit();
      },
      v: () => menu(box.left + box.width / 2, box.top + 24),
      Tab: () => go(tab === "keys" ? "graph" : "keys"),
    };
    if (event.key === "Escape" && model.selection.size) does.Escape = operations.selectNone;
    const run = does[event.key];
    if (!run || (event.altKey && event.key !== "a") || (event.key === "Tab" && event.shiftKey)) return;
    event.preventDefault();
    run();
  }

  const doing = { model, sender, transport, insert: operations.insert, menu, time: () => store.time };
  const following = { keys: addGestures(dope, doing), graph: addGestures(graph, doing) };
  for (const surface of [dope, graph]) surface.element.addEventListener("keydown", pressed);
  model.onChange((what) => {
    for (const surface of [dope, graph]) surface.draw(what === "channels");
    if (what !== "channels") return;
    none.textContent = !model.state ? "Choose a clip in the library to edit its keys." : tab === "graph" && !model.chosen.length ? "Choose a channel to see its curves." : "";
    ask();
  });
  list.onScroll(() => dope.draw(true));
  view.onChange(drawTime);
  store.onTime(drawTime);
  new ResizeObserver(drawTime).observe(body);

  session.onState((state) => {
    if (state?.edit !== model.state?.edit) asked = "";
    model.hear(state);
    if (!state || state.baked) return;
    if (framedEdit !== state.edit) {
      framedEdit = state.edit;
      view.value = { ...view.value, start: -0.02 * state.seconds, stop: 1.02 * state.seconds };
      follow(store.document?.selection ?? []);
    }
  });
  session.onGraph((data) => {
    const frame = model.state && readGraph(data, model.state.channels);
    if (!frame || model.gesture) return;
    const fresh = model.chosen.some((number) => !model.kept[number]?.values.length);
    model.hearFrame(frame);
    if (fresh) fitValues();
  });

  /** The joints that are selected elsewhere choose their channels here. */
  function follow(names: readonly string[]): void {
    const now = targetsOf(model.kept, model.chosen);
    const known = names.filter((name) => model.kept.some((channel) => channel.target === name)).sort();
    if (!known.length || known.join("\n") === now.join("\n")) return;
    const channels = model.kept.flatMap((channel, number) => (known.includes(channel.target) ? [number] : []));
    model.choose(channels);
    fitValues();
    list.reveal(channels[0]);
  }
  store.onDocument((document) => follow(document.selection));

  /** For tests that drive the page: where things are, how long pictures took, how exact they are. */
  const exposed = () => ({
    model,
    draws: drawTimes,
    deviation: () => deviation(model),
    /** Where a key, or a handle of it, is on the page; in the dope sheet `column` does not matter. */
    place(channel: number, column: number, key: number, side?: Side) {
      const box = surfaces[tab].element.getBoundingClientRect();
      const at = tab === "graph" ? graph.place(channel, column, key, side) : dope.place(channel, column, key);
      return at && { x: box.left + at.x, y: box.top + at.y };
    },
  });

  const command = (id: string, title: string, run: () => void): Command => ({ id: `graph.${id}`, title, enabled: () => model.kept.length > 0, run });
  const tangents = (how: Tangents, title: string) => command(how, `Tangents: ${title}`, () => operations.tangents(how));
  go(tab);

  return {
    panel,
    timeline,
    commands: [
      command("keys", "Dope sheet", () => go("keys")),
      command("curves", "Graph editor", () => go("graph")),
      tangents("auto", "auto"),
      tangents("flat", "flat"),
      tangents("linear", "linear"),
      tangents("stepped", "stepped"),
      command("break", "Tangents: break", () => operations.broken(true)),
      command("unify", "Tangents: unify", () => operations.broken(false)),
      command("insert", "Insert a key on the chosen channels", insertHere),
      command("delete", "Delete the selected keys", operations.remove),
      command("all", "Select all keys", operations.selectAll),
      command("fit", "Frame the selected keys", fit),
    ],
    enter() {
      on = true;
      asked = "";
      const page = window as unknown as { understudy?: Record<string, unknown> };
      page.understudy = { ...page.understudy, graph: exposed() };
      go(tab);
    },
    leave() {
      on = false;
      for (const surface of [dope, graph]) surface.shown = false;
    },
  };
}
