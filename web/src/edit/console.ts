/** What the console and the tests that drive the page can ask: `window.understudy`. */
import type { Stage } from "../stage/api";
import type { CurveLayer } from "./curve_layer";
import type { Latencies, Trace } from "./latency";
import type { EditSession } from "./session";
import type { EditView } from "./view";

export interface Exposed {
  /**
   * When each drag was where, from the pointer's event to the picture that shows it, the newest last; `true` forgets
   * them after.
   */
  editLatencies(forget?: boolean): Trace[];
  edit: {
    state(): EditSession["state"];
    /** The number of the curve of a name; null where none is shown. */
    curve(name: string): number | null;
    /** Where a curve is at a time on the page (client px), and in the world. */
    at(curve: number, time: number): { x: number; y: number; place: [number, number, number] } | null;
    view(): Pick<EditView, "tool" | "posing" | "active">;
  };
}

declare global {
  interface Window {
    understudy?: Exposed;
  }
}

export function exposed({
  session,
  layer,
  view,
  latencies,
  stage,
}: {
  session: EditSession;
  layer: CurveLayer;
  view: EditView;
  latencies: Latencies;
  stage: Stage;
}): void {
  window.understudy = {
    editLatencies(forget = false) {
      const values = latencies.values();
      if (forget) latencies.clear();
      return values;
    },
    edit: {
      state: () => session.state,
      curve: (name) => session.state?.curves.find((each) => each.name === name)?.curve ?? null,
      at(curve, time) {
        const place = layer.place(curve, time);
        if (!place) return null;
        const box = stage.canvas.getBoundingClientRect();
        const { x, y } = stage.project(place);
        return { x: box.left + x, y: box.top + y, place };
      },
      view: () => ({ tool: view.tool, posing: view.posing, active: view.active }),
    },
  };
}
