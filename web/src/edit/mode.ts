/** The edit mode: motion curves in the viewport, dragged anywhere between keys; the graph editor below. */
import "./edit.css";
import type { Context } from "../context";
import { h } from "../dom";
import type { Command, Mode } from "../modes/mode";
import { createEditActions } from "./actions";
import { editCommands } from "./commands";
import { exposed } from "./console";
import { createTags } from "./curve_labels";
import { createCurveLayer } from "./curve_layer";
import { createGestures } from "./drag";
import { createGizmo } from "./gizmo";
import { graphEditor } from "./graph/editor";
import { jointSection } from "./joint_section";
import { Latencies } from "./latency";
import { heldSection, pathsSection } from "./lists";
import { createFollowing } from "./low_latency_draw";
import { createBlocked } from "./obstacles";
import { createGhosting } from "./onion_skin";
import { createPointing, type Pointing } from "./pointer_tools";
import { poseSection } from "./pose_section";
import { createEditSession } from "./session";
import { createSketching } from "./sketch_tool";
import { createToolbar } from "./toolbar";
import { createEditView, jointPoint } from "./view";
import { viewSection } from "./view_section";

/** What `graph/editor.ts` gives: `graphEditor(context, session): GraphEditor`. */
export interface GraphEditor {
  /** The section of the mode's panel: the dial that reduces a clip. */
  panel: HTMLElement;
  /** Takes the place of the timeline's body (below the transport) while the mode is on, and fills it: own ruler, own
   * playhead, dope sheet and graph. */
  timeline: HTMLElement;
  /** Of the whole mode: their keys work while it is on. Ids begin with "graph." */
  commands: Command[];
  enter(): void;
  leave(): void;
}

export function editMode(context: Context): Mode {
  const { stage, store, connection } = context;
  const session = createEditSession(context);
  const graph = graphEditor(context, session);
  const view = createEditView();
  const latencies = new Latencies();
  const layer = createCurveLayer(context, session, view);
  const gestures = createGestures(context, session, latencies);
  const actions = createEditActions(context, session, view, layer);
  const ghosting = createGhosting(context, session, view, actions, gestures);
  const awakened: { awake: boolean }[] = [layer, ghosting];
  let pointing: Pointing | null = null;
  let dismiss = (): void => undefined;
  let on = false;

  gestures.onChange(() => {
    const hurried = gestures.going !== null;
    if (stage.hurried === hurried) return;
    stage.hurried = hurried;
    stage.requestRender();
  });
  stage.onSeen((sequence, stream) => stream === 0 && latencies.seen(sequence));
  stage.onDrawn((now) => void latencies.drawn(now));
  const following = createFollowing(stage);
  following.onDone((drawn, now) => latencies.done(drawn, now));
  layer.onPaths(() => stage.hurried && following.ready());
  exposed({ session, layer, view, latencies, stage });

  const name = h("span", { class: "grow nowrap" });
  const head = h("div", { class: "edit-head" }, name);
  const empty = h("p", { class: "edit-empty" }, "Choose a clip in the library to edit it.");
  const sections = h(
    "div",
    {},
    pathsSection(context, session, view, actions),
    heldSection(session, view, actions),
    poseSection(context, session, view, actions),
    jointSection(context, session, view),
    viewSection(view),
  );

  function draw(): void {
    const state = session.state;
    name.textContent = state?.name ?? "";
    head.classList.toggle("hidden", !state);
    empty.classList.toggle("hidden", state !== null);
    sections.classList.toggle("hidden", !state || state.baked);
  }
  session.onState(draw);

  /** A clip that is put on stage while the mode is on is edited at once; an edit that is there is asked for anew. */
  let opening = "";
  let asked = false;
  function open(): void {
    const { character, driver, drives } = store.document?.stage ?? { character: "", driver: "", drives: "" };
    const wanted = ["clip", "edit", "rest"].includes(driver) && character ? `${character} ${driver} ${drives}` : "";
    if (!on || asked || wanted === opening) return;
    opening = wanted;
    if (!wanted || (driver === "edit" && session.state?.edit === drives)) return;
    asked = true;
    void actions.open().finally(() => {
      asked = false;
      open(); // another clip may have come meanwhile
    });
  }
  store.onDocument(open);
  connection.onState((state) => {
    if (state === "lost") opening = "";
  });

  /** The camera goes along with the first joint that is moved about, whose path is needed for that. */
  let along = "";
  let lends = false; // its path is shown for this alone, and goes with it
  function follow(): void {
    const root = session.state?.channels.find((channel) => channel.channel === "translation")?.target ?? "";
    const wanted = view.display.camera && on ? root : "";
    if (wanted === along) return;
    const lent = along && lends && on ? layer.curveOf(jointPoint(along)) : undefined;
    if (lent && !layer.held(lent.point) && view.active !== lent.curve)
      void session.ask({ kind: "editCurve", shown: false, curve: lent.curve });
    along = wanted;
    layer.follow(wanted ? jointPoint(wanted) : null);
    lends = wanted !== "" && !layer.curveOf(jointPoint(wanted));
    if (lends) void session.ask({ kind: "editCurve", shown: true, point: jointPoint(wanted) });
  }
  view.onChange(follow);
  session.onState(follow);

  return {
    id: "edit",
    title: "Edit",
    commands: [
      ...editCommands(session, view, {
        actions,
        follow: (operation) => pointing?.follow(operation),
        dismiss: () => dismiss(),
      }),
      ...graph.commands,
    ],
    panel(host) {
      host.classList.add("edit");
      host.append(head, empty, graph.panel, sections);
    },
    timeline: (host) => host.append(graph.timeline),
    overlay(host) {
      const toolbar = createToolbar(context, host, session, view, gestures);
      const sketch = createSketching(context, host, session, layer, view, toolbar.busy);
      const blocked = createBlocked(context, host, session, layer, gestures);
      const point = createPointing(context, host, {
        gestures,
        layer,
        view,
        actions,
        sketch,
        told: () => toolbar.hint(point.hint()),
        offered: () => blocked.open,
      });
      const gizmo = createGizmo(context, host, layer, view, gestures, actions.ready, () => point.take);
      const tags = createTags(context, host, session, layer, view);
      awakened.push(point, blocked, gizmo, tags);
      pointing = point;
      dismiss = () => (blocked.open ? blocked.dismiss() : actions.activate(null));
    },
    enter() {
      on = true;
      stage.outlines = false;
      if (store.document?.stage.playing) void session.ask({ kind: "play", playing: false });
      for (const each of awakened) each.awake = true;
      graph.enter();
      open();
    },
    leave() {
      on = false;
      stage.outlines = true;
      opening = "";
      void gestures.end(false);
      for (const each of awakened) each.awake = false;
      graph.leave();
    },
  };
}
