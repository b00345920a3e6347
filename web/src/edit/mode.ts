/** The edit mode: motion curves in the viewport, dragged anywhere between keys; the graph editor below. */
import type { Context } from "../context";
import type { Command, Mode } from "../modes/mode";
import { graphEditor } from "./graph/editor";
import { createEditSession } from "./session";

/** What `graph/editor.ts` gives: `graphEditor(context, session): GraphEditor`. */
export interface GraphEditor {
  /** Sections of the mode's panel: the dial that reduces a clip, what is said of the selected keys. */
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
  const session = createEditSession(context);
  const graph = graphEditor(context, session);
  return {
    id: "edit",
    title: "Edit",
    commands: [...graph.commands],
    panel: (host) => host.append(graph.panel),
    timeline: (host) => host.append(graph.timeline),
    enter: () => graph.enter(),
    leave: () => graph.leave(),
  };
}
