/** The graph editor: composes graph, dope sheet, channel list and the dial that reduces a baked clip. */
import "./graph.css";
import type { Context } from "../../context";
import { h } from "../../dom";
import { snapToFrame } from "../../shell/ruler";
import { storedSetting, storeSetting } from "../../shell/settings";
import { createTransport } from "../../shell/transport";
import type { GraphEditor } from "../mode";
import type { EditSession } from "../session";
import type { EditView } from "../view";
import { createChangeQueue } from "./change_queue";
import { createChannelList } from "./channel_list";
import { createChannelSelection } from "./channel_selection";
import { createDopeSurface } from "./dope_surface";
import { drawTimes } from "./draw_times";
import { deviation, frameKeys } from "./framing";
import { graphCommands, keysMenu } from "./graph_commands";
import { readGraph } from "./graph_file";
import { createGraphSurface } from "./graph_surface";
import type { Side } from "./handles";
import { createKeyFields } from "./key_fields";
import { handleKey } from "./keyboard";
import { createModel } from "./model";
import { createOperations } from "./operations";
import { addPointer } from "./pointer";
import { createReduceDial } from "./reduce_dial";
import { createSharedView } from "./shared_view";
import { createSpans } from "./spans";
import { createToolbar, type Tab } from "./toolbar";
import { xAt } from "./view";

export function graphEditor(context: Context, session: EditSession, editView: EditView): GraphEditor {
  const { store } = context;
  const model = createModel();
  const view = createSharedView();
  const queue = createChangeQueue(session);
  const channelSelection = createChannelSelection(context, session, model);
  const list = createChannelList(model, choose);
  const graph = createGraphSurface(model, view);
  const dope = createDopeSurface(model, view, list);
  const surfaces = { keys: dope, graph };
  let tab: Tab = storedSetting<string>("graph.tab", "keys") === "graph" ? "graph" : "keys";
  const operations = createOperations(model, queue, () => tab === "graph");
  const toolbar = createToolbar(model, {
    go,
    operations,
    insertHere,
    fit: fitView,
    fields: createKeyFields(model, queue),
  });
  const dial = createReduceDial(session);
  const head = h("div", { class: "playhead" });
  const xOf = (time: number): number => xAt(view.value, { ...surfaces[tab].area(), left: 0 }, time);
  const spans = createSpans(context, session, editView, (time) =>
    Math.max(-9, Math.min(surfaces[tab].area().width + 9, xOf(time))),
  );
  const emptyText = h("div", { class: "graph-none muted" });
  const place = h(
    "div",
    { class: "graph-place" },
    dope.element,
    graph.element,
    h("div", { class: "playhead-window graph-heads" }, spans.element, head),
    emptyText,
  );
  const body = h("div", { class: "graph-body" }, list.element, place, dial.suggestion);
  let on = false;
  let framedEdit = ""; // the edit whose whole length was framed

  const keyActions = { model, operations, insertHere };
  const menu = (x: number, y: number) => keysMenu(x, y, keyActions);
  const pointerActions = {
    model,
    queue,
    transport: createTransport(context),
    insert: operations.insert,
    menu,
    time: () => store.time,
  };
  const keyboardDrags = { keys: addPointer(dope, pointerActions), graph: addPointer(graph, pointerActions) };
  const keyboardActions = {
    ...keyActions,
    keyboardDrags: () => keyboardDrags[tab],
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
  for (const surface of [dope, graph])
    surface.element.addEventListener("keydown", (event) => handleKey(event, keyboardActions));

  function choose(channels: readonly number[]): void {
    channelSelection.choose(channels);
    fitValues();
  }

  function go(next: Tab): void {
    tab = next;
    storeSetting("graph.tab", tab);
    toolbar.show(tab);
    for (const [name, surface] of Object.entries(surfaces)) {
      surface.element.classList.toggle("hidden", name !== tab);
      surface.shown = on && name === tab;
    }
    chooseFirst();
    if (on) channelSelection.requestCurves(tab === "graph");
    updateEmptyText();
    drawTime();
  }

  /** Chooses the first channel if none is chosen, as an empty graph is of no use. */
  function chooseFirst(): void {
    if (tab === "graph" && !model.chosen.length && list.rows.length) model.choose([list.rows[0]]);
  }

  function updateEmptyText(): void {
    const nothing = tab === "graph" && !model.chosen.length;
    emptyText.textContent = !model.state
      ? "Choose a clip in the library to edit its keys."
      : nothing
        ? "Choose a channel to see its curves."
        : "";
  }

  function fitView(): void {
    const fitted = frameKeys(model, tab === "graph", { start: 0, stop: model.state?.seconds ?? 1 }, view.value);
    if (fitted) view.value = fitted;
  }

  /** Fits only the values, after another channel was chosen. */
  function fitValues(): void {
    const { start, stop } = view.value;
    const fitted = frameKeys(
      { kept: model.kept, lanes: model.lanes, selection: new Map() },
      true,
      view.value,
      view.value,
    );
    if (fitted) view.value = { ...fitted, start, stop };
  }

  function insertHere(): void {
    const channels = model.chosen.length ? model.chosen : [...model.kept.keys()];
    operations.insert(
      channels,
      snapToFrame(store.time, model.state?.rate || 30, { start: 0, stop: model.state?.seconds ?? 0 }),
    );
  }

  function drawTime(): void {
    head.style.transform = `translateX(${xOf(store.time).toFixed(1)}px)`;
  }

  function followSelection(names: readonly string[]): void {
    if (!channelSelection.followJoints(names)) return;
    fitValues();
    list.reveal(model.chosen[0]);
  }

  model.onChange((what) => {
    for (const surface of [dope, graph]) surface.draw(what === "channels");
    if (what !== "channels") return;
    updateEmptyText();
    if (on) channelSelection.requestCurves(tab === "graph");
  });
  list.onScroll(() => dope.draw(true));
  store.onTime(drawTime);
  const arrange = (): void => {
    drawTime();
    spans.draw();
  };
  view.onChange(arrange);
  const observer = new ResizeObserver(arrange); // a surface has no size until it is shown
  for (const element of [body, dope.element, graph.element]) observer.observe(element);
  store.onDocument((document) => followSelection(document.selection));
  context.connection.onState((now) => now === "live" && channelSelection.reset());
  session.onState((state) => {
    if (state?.edit !== model.state?.edit) channelSelection.reset();
    model.setState(state);
    if (!state) return;
    if (framedEdit !== state.edit)
      view.value = { ...view.value, start: -0.02 * state.seconds, stop: 1.02 * state.seconds };
    framedEdit = state.edit;
    if (state.baked) return;
    if (!model.chosen.length) followSelection(store.document?.selection ?? []);
    chooseFirst();
  });
  session.onGraph((data) => {
    const frame = model.state && readGraph(data, model.state.channels);
    if (!frame || model.drag) return;
    const fresh = model.chosen.some((number) => !model.kept[number]?.values.length);
    model.setFrame(frame);
    if (fresh) fitValues();
  });

  /** For tests that drive the page: positions, drawing times and accuracy. */
  const consoleApi = {
    model,
    draws: drawTimes,
    deviation: () => deviation(model),
    /** The position of a key or its handle on the page; the dope sheet ignores `column`. */
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
    commands: graphCommands({ ...keyActions, go, other: () => go(tab === "keys" ? "graph" : "keys"), fit: fitView }),
    enter() {
      on = true;
      channelSelection.reset();
      const page = window as unknown as { understudy?: Record<string, unknown> };
      page.understudy = { ...page.understudy, graph: consoleApi };
      go(tab);
    },
    leave() {
      on = false;
      for (const surface of [dope, graph]) surface.shown = false;
    },
  };
}
