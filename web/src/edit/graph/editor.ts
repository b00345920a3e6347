/** The graph editor, the dope sheet and the dial that reduces a baked clip, put together. */
import "./graph.css";
import type { Context } from "../../context";
import { h } from "../../dom";
import { snapped } from "../../shell/ruler";
import { remember, remembered } from "../../shell/settings";
import { createTransport } from "../../shell/transport";
import type { GraphEditor } from "../mode";
import type { EditSession } from "../session";
import { createSender } from "./change_queue";
import { createChannelList } from "./channel_list";
import { createChoosing } from "./channel_selection";
import { createDopeSurface } from "./dope_surface";
import { drawTimes } from "./draw_times";
import { deviation, framed } from "./framing";
import { graphCommands, keysMenu } from "./graph_commands";
import { readGraph } from "./graph_file";
import { createGraphSurface } from "./graph_surface";
import type { Side } from "./handles";
import { createKeyFields } from "./key_fields";
import { pressed } from "./keyboard";
import { createModel } from "./model";
import { createOperations } from "./operations";
import { addGestures } from "./pointer";
import { createReduceDial } from "./reduce_dial";
import { createSharedView } from "./shared_view";
import { createSpans } from "./spans";
import { createToolbar, type Tab } from "./toolbar";
import { xAt } from "./view";

export function graphEditor(context: Context, session: EditSession): GraphEditor {
  const { store } = context;
  const model = createModel();
  const view = createSharedView();
  const sender = createSender(session);
  const choosing = createChoosing(context, session, model);
  const list = createChannelList(model, choose);
  const graph = createGraphSurface(model, view);
  const dope = createDopeSurface(model, view, list);
  const surfaces = { keys: dope, graph };
  let tab: Tab = remembered<string>("graph.tab", "keys") === "graph" ? "graph" : "keys";
  const operations = createOperations(model, sender, () => tab === "graph");
  const toolbar = createToolbar(model, {
    go,
    operations,
    insertHere,
    fit: fitView,
    fields: createKeyFields(model, sender),
  });
  const dial = createReduceDial(session);
  const head = h("div", { class: "playhead" });
  const xOf = (time: number): number => xAt(view.value, { ...surfaces[tab].area(), left: 0 }, time);
  const spans = createSpans(context, session, (time) =>
    Math.max(-9, Math.min(surfaces[tab].area().width + 9, xOf(time))),
  );
  const none = h("div", { class: "graph-none muted" });
  const place = h(
    "div",
    { class: "graph-place" },
    dope.element,
    graph.element,
    h("div", { class: "playhead-window graph-heads" }, spans.element, head),
    none,
  );
  const body = h("div", { class: "graph-body" }, list.element, place, dial.offer);
  let on = false;
  let seen = ""; // the edit whose whole length has been framed

  const named = { model, operations, insertHere };
  const menu = (x: number, y: number) => keysMenu(x, y, named);
  const doing = {
    model,
    sender,
    transport: createTransport(context),
    insert: operations.insert,
    menu,
    time: () => store.time,
  };
  const following = { keys: addGestures(dope, doing), graph: addGestures(graph, doing) };
  const keyed = {
    ...named,
    following: () => following[tab],
    fit: fitView,
    fitAll() {
      operations.selectNone();
      fitView();
    },
    menu() {
      const box = surfaces[tab].element.getBoundingClientRect();
      menu(box.left + box.width / 2, box.top + 24);
    },
  };
  for (const surface of [dope, graph]) surface.element.addEventListener("keydown", (event) => pressed(event, keyed));

  function choose(channels: readonly number[]): void {
    choosing.choose(channels);
    fitValues();
  }

  function go(next: Tab): void {
    tab = next;
    remember("graph.tab", tab);
    toolbar.show(tab);
    for (const [name, surface] of Object.entries(surfaces)) {
      surface.element.classList.toggle("hidden", name !== tab);
      surface.shown = on && name === tab;
    }
    chooseFirst();
    if (on) choosing.ask(tab === "graph");
    say();
    drawTime();
  }

  /** A graph without a curve says nothing: the first channel is shown where none is chosen. */
  function chooseFirst(): void {
    if (tab === "graph" && !model.chosen.length && list.rows.length) model.choose([list.rows[0]]);
  }

  function say(): void {
    const nothing = tab === "graph" && !model.chosen.length;
    none.textContent = !model.state
      ? "Choose a clip in the library to edit its keys."
      : nothing
        ? "Choose a channel to see its curves."
        : "";
  }

  function fitView(): void {
    const found = framed(model, tab === "graph", { start: 0, stop: model.state?.seconds ?? 1 }, view.value);
    if (found) view.value = found;
  }

  /** Fits the values alone: another channel is chosen, the times stay. */
  function fitValues(): void {
    const { start, stop } = view.value;
    const found = framed({ kept: model.kept, lanes: model.lanes, selection: new Map() }, true, view.value, view.value);
    if (found) view.value = { ...found, start, stop };
  }

  function insertHere(): void {
    const channels = model.chosen.length ? model.chosen : [...model.kept.keys()];
    operations.insert(
      channels,
      snapped(store.time, model.state?.rate || 30, { start: 0, stop: model.state?.seconds ?? 0 }),
    );
  }

  function drawTime(): void {
    head.style.transform = `translateX(${xOf(store.time).toFixed(1)}px)`;
  }

  function follow(names: readonly string[]): void {
    if (!choosing.follow(names)) return;
    fitValues();
    list.reveal(model.chosen[0]);
  }

  model.onChange((what) => {
    for (const surface of [dope, graph]) surface.draw(what === "channels");
    if (what !== "channels") return;
    say();
    if (on) choosing.ask(tab === "graph");
  });
  list.onScroll(() => dope.draw(true));
  store.onTime(drawTime);
  const arrange = (): void => {
    drawTime();
    spans.draw();
  };
  view.onChange(arrange);
  const resized = new ResizeObserver(arrange); // a surface has no size until it is shown
  for (const each of [body, dope.element, graph.element]) resized.observe(each);
  store.onDocument((document) => follow(document.selection));
  context.connection.onState((now) => now === "live" && choosing.forget());
  session.onState((state) => {
    if (state?.edit !== model.state?.edit) choosing.forget();
    model.hear(state);
    if (!state || state.baked) return;
    if (seen !== state.edit) view.value = { ...view.value, start: -0.02 * state.seconds, stop: 1.02 * state.seconds };
    seen = state.edit;
    if (!model.chosen.length) follow(store.document?.selection ?? []);
    chooseFirst();
  });
  session.onGraph((data) => {
    const frame = model.state && readGraph(data, model.state.channels);
    if (!frame || model.gesture) return;
    const fresh = model.chosen.some((number) => !model.kept[number]?.values.length);
    model.hearFrame(frame);
    if (fresh) fitValues();
  });

  /** For tests that drive the page: where things are, how long pictures took, how exact they are. */
  const exposed = {
    model,
    draws: drawTimes,
    deviation: () => deviation(model),
    /** Where a key, or a handle of it, is on the page; in the dope sheet `column` does not matter. */
    place(channel: number, column: number, key: number, side?: Side) {
      const box = surfaces[tab].element.getBoundingClientRect();
      const at = surfaces[tab].place(channel, column, key, side);
      return at && { x: box.left + at.x, y: box.top + at.y };
    },
  };
  go(tab);

  return {
    panel: dial.panel,
    timeline: h("div", { class: "graph-editor", "data-testid": "graph-editor" }, toolbar.element, body),
    commands: graphCommands({ ...named, go, other: () => go(tab === "keys" ? "graph" : "keys"), fit: fitView }),
    enter() {
      on = true;
      choosing.forget();
      const page = window as unknown as { understudy?: Record<string, unknown> };
      page.understudy = { ...page.understudy, graph: exposed };
      go(tab);
    },
    leave() {
      on = false;
      for (const surface of [dope, graph]) surface.shown = false;
    },
  };
}
