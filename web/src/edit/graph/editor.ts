/** The graph editor, the dope sheet and the dial that reduces a baked clip. */
import type { Context } from "../../context";
import { h } from "../../dom";
import type { GraphEditor } from "../mode";
import type { EditSession } from "../session";

export function graphEditor(_context: Context, _session: EditSession): GraphEditor {
  return { panel: h("div"), timeline: h("div"), commands: [], enter: () => undefined, leave: () => undefined };
}
