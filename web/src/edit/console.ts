/** The API for the console and for tests that drive the page: `window.understudy`. */
import type { Stage } from "../stage/api";
import type { CurveLayer } from "./curve_layer";
import type { Latencies, Trace } from "./latency";
import type { EditSession } from "./session";
import type { EditView } from "./view";

export interface ConsoleApi {
  /**
   * The times of each drag from the pointer event to the rendered frame that shows it, newest last; `true` clears them
   * afterwards.
   */
  editLatencies(forget?: boolean): Trace[];
  edit: {
    state(): EditSession["state"];
    /** The number of the curve with a name; null if none is shown. */
    curve(name: string): number | null;
    /** The position of a curve at a time: on the page (client px) and in the world. */
    at(curve: number, time: number): { x: number; y: number; place: [number, number, number] } | null;
    view(): Pick<EditView, "tool" | "posing" | "active" | "falloff" | "reach">;
  };
}

declare global {
  interface Window {
    understudy?: ConsoleApi;
  }
}

export function exposeToConsole({
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
      curve: (name) => session.state?.curves.find((entry) => entry.name === name)?.curve ?? null,
      at(curve, time) {
        const place = layer.place(curve, time);
        if (!place) return null;
        const box = stage.canvas.getBoundingClientRect();
        const { x, y } = stage.project(place);
        return { x: box.left + x, y: box.top + y, place };
      },
      view: () => ({
        tool: view.tool,
        posing: view.posing,
        active: view.active,
        falloff: view.falloff,
        reach: view.reach,
      }),
    },
  };
}
