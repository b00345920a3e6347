/** The edit mode: motion curves in the viewport, which can be dragged between keys, and the graph editor below. */
import "./edit.css";
import type { Context } from "../context";
import { h } from "../dom";
import type { Command, Mode } from "../modes/mode";
import { createEditActions } from "./actions";
import { editCommands } from "./commands";
import { exposeToConsole } from "./console";
import { createCurveLabels } from "./curve_labels";
import { createCurveLayer } from "./curve_layer";
import { createDragController } from "./drag";
import { createGizmo } from "./gizmo";
import { graphEditor } from "./graph/editor";
import { jointSection } from "./joint_section";
import { Latencies } from "./latency";
import { constraintSection, pathsSection } from "./lists";
import { createLowLatencyDraw } from "./low_latency_draw";
import { createOnionSkin } from "./onion_skin";
import { createPointerTools, type PointerTools } from "./pointer_tools";
import { poseSection } from "./pose_section";
import { reachSection } from "./reach_section";
import { createResultCard } from "./result_card";
import { createEditSession } from "./session";
import { createSketchTool } from "./sketch_tool";
import { createToolbar } from "./toolbar";
import { createEditView, jointPoint } from "./view";
import { viewSection } from "./view_section";

/** The interface of `graph/editor.ts`. */
export interface GraphEditor {
  /** The section of the mode's panel: reducing a clip. */
  panel: HTMLElement;
  /**
   * Replaces the body of the timeline (below the transport) in this mode: own ruler, own playhead, dope sheet and
   * graph.
   */
  timeline: HTMLElement;
  /** Commands of the whole mode. Their ids begin with "graph.". */
  commands: Command[];
  enter(): void;
  leave(): void;
}

export function editMode(context: Context): Mode {
  const { stage, store, connection } = context;
  const session = createEditSession(context);
  const view = createEditView();
  const graph = graphEditor(context, session, view);
  const latencies = new Latencies();
  const layer = createCurveLayer(context, session, view);
  const drags = createDragController(context, session, latencies, view);
  const actions = createEditActions(context, session, view, layer);
  const onionSkin = createOnionSkin(context, session, view, actions, drags);
  const awakeParts: { awake: boolean }[] = [layer, onionSkin];
  let pointerTools: PointerTools | null = null;
  let dismiss = (): void => undefined;
  let on = false;

  drags.onChange(() => {
    const isDragging = drags.active !== null;
    if (stage.isInteracting === isDragging) return;
    stage.isInteracting = isDragging;
    stage.requestRender();
  });
  stage.onSeen((sequence, stream) => stream === 0 && latencies.recordSeen(sequence));
  stage.onDrawn((now) => void latencies.recordDrawn(now));
  const lowLatencyDraw = createLowLatencyDraw(stage);
  lowLatencyDraw.onDone((drawn, now) => latencies.recordDone(drawn, now));
  layer.onPaths(() => stage.isInteracting && lowLatencyDraw.requestDraw());
  exposeToConsole({ session, layer, view, latencies, stage });

  const name = h("span", { class: "grow nowrap" });
  const head = h("div", { class: "edit-head" }, name);
  const empty = h("p", { class: "edit-empty" }, "Choose a clip in the library to edit it.");
  const poses = poseSection(context, session, view, actions);
  const sections = h(
    "div",
    {},
    pathsSection(context, session, view, actions),
    reachSection(session, view, actions),
    constraintSection(session, view, actions),
    poses,
    jointSection(context, session, view),
    viewSection(view),
  );

  function draw(): void {
    const state = session.state;
    name.textContent = state?.name ?? "";
    head.classList.toggle("hidden", !state);
    empty.classList.toggle("hidden", state !== null);
    sections.classList.toggle("hidden", !state);
    poses.classList.toggle("hidden", state?.baked ?? false); // a pose would last one frame
    if (state?.baked) view.posing = false;
  }
  session.onState(draw);

  /** Opens a clip for editing as soon as it is on stage; requests the state of an edit that is on stage already. */
  let openedKey = "";
  function open(): void {
    const { character, driver, drives } = store.document?.stage ?? { character: "", driver: "", drives: "" };
    const wanted = ["clip", "edit", "rest"].includes(driver) && character ? `${character} ${driver} ${drives}` : "";
    if (!on || actions.isOpening() || wanted === openedKey) return;
    openedKey = wanted;
    if (!wanted || (driver === "edit" && session.state?.edit === drives)) return;
    void actions.open().then(open); // another clip may be on stage by now
  }
  store.onDocument(open);
  connection.onState((state) => {
    if (state === "lost") openedKey = "";
  });

  /** The camera follows the first joint with translation, which needs its curve. */
  let followedJoint = "";
  let showsFollowedPath = false; // its curve is shown only for this
  function followRoot(): void {
    const root = session.state?.channels.find((channel) => channel.channel === "translation")?.target ?? "";
    const wanted = view.display.camera && on ? root : "";
    if (wanted === followedJoint) return;
    const lent = followedJoint && showsFollowedPath && on ? layer.curveOf(jointPoint(followedJoint)) : undefined;
    if (lent && !layer.isHeld(lent.point) && view.active !== lent.curve)
      void session.ask({ kind: "editCurve", shown: false, curve: lent.curve });
    followedJoint = wanted;
    layer.followPoint(wanted ? jointPoint(wanted) : null);
    showsFollowedPath = wanted !== "" && !layer.curveOf(jointPoint(wanted));
    if (showsFollowedPath) void session.ask({ kind: "editCurve", shown: true, point: jointPoint(wanted) });
  }
  view.onChange(followRoot);
  session.onState(followRoot);

  return {
    id: "edit",
    title: "Edit",
    commands: [
      ...editCommands(session, view, {
        actions,
        followPointer: (operation) => pointerTools?.followPointer(operation),
        dismiss: () => dismiss(),
      }),
      ...graph.commands,
    ],
    // Not through the stage: the clip would play until its edit is open, and the edit begin at a random time.
    openClip: (character, clip) => void actions.openClip(character, clip).then(open),
    panel(host) {
      host.classList.add("edit");
      host.append(head, empty, graph.panel, sections);
    },
    timeline: (host) => host.append(graph.timeline),
    overlay(host) {
      const toolbar = createToolbar(context, host, session, view, drags);
      const resultCard = createResultCard(context, host, session, layer, drags, view);
      const sketchTool = createSketchTool(context, host, session, layer, view, toolbar.busy, resultCard.showStroke);
      const tools = createPointerTools(context, host, {
        drags,
        layer,
        view,
        actions,
        sketch: sketchTool,
        onHover: () => toolbar.hint(tools.hint()),
        hasSuggestions: () => resultCard.blocked,
      });
      const gizmo = createGizmo(context, host, layer, view, drags, actions.ready, () => tools.dragHandle);
      const curveLabels = createCurveLabels(context, host, session, layer, view);
      awakeParts.push(tools, resultCard, gizmo, curveLabels);
      pointerTools = tools;
      dismiss = () => (resultCard.open ? resultCard.dismiss() : actions.activate(null));
    },
    enter() {
      on = true;
      stage.outlines = false;
      if (store.document?.stage.playing) void session.ask({ kind: "play", playing: false });
      for (const part of awakeParts) part.awake = true;
      graph.enter();
      open();
    },
    leave() {
      on = false;
      stage.outlines = true;
      openedKey = "";
      void drags.end(false);
      for (const part of awakeParts) part.awake = false;
      graph.leave();
    },
  };
}
