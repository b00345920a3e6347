/** Over keys and curves: the area outside the playing range, the window of a drag, and the times of constraints. */
import type { Context } from "../../context";
import { h, replace } from "../../dom";
import type { EditSession } from "../session";
import { type EditView, pointName } from "../view";

export interface Spans {
  element: HTMLElement;
  draw(): void;
}

const MOMENT_WIDTH_PX = 6;

interface Span {
  kind: string;
  from: number; // px
  to: number;
  name: string;
  lane?: number; // of feet, from below
}

const widthOf = (kind: string, from: number, to: number): number =>
  kind === "moment" ? MOMENT_WIDTH_PX : Math.max(0, to - from);

/** `at` returns the x position of a time, in px. */
export function createSpans(
  { store }: Context,
  session: EditSession,
  view: EditView,
  at: (time: number) => number,
): Spans {
  const element = h("div", { class: "graph-spans", "data-testid": "graph-spans" });
  let drawn = "";

  function outside(seconds: number): Span[] {
    const stage = store.document?.stage;
    const [start, stop] = [stage?.start ?? 0, Math.min(stage?.stop ?? seconds, seconds)];
    const [first, last] = [at(-1e4), at(1e4)];
    return [
      ...(start > 1e-6 ? [{ kind: "outside", from: first, to: at(start), name: "" }] : []),
      ...(stop < seconds - 1e-6 ? [{ kind: "outside", from: at(stop), to: last, name: "" }] : []),
    ];
  }

  /** The window of the current or last drag or stroke, and its core where it has one. */
  function reachSpans(): Span[] {
    const { reach } = view;
    if (!reach) return [];
    const { start, stop, radius } = reach;
    const core = stop > start ? [{ kind: "core", from: at(start), to: at(stop), name: "" }] : [];
    return [{ kind: "reach", from: at(start - radius), to: at(stop + radius), name: "" }, ...core];
  }

  function draw(): void {
    const state = session.state;
    const lanes = [...new Set(state?.feet.map((foot) => foot.joint))];
    const shown: Span[] = !state
      ? []
      : [
          ...outside(state.seconds),
          ...reachSpans(),
          ...state.feet.map(({ joint, start, stop, held }) => ({
            kind: held ? "stance" : "loose",
            from: at(start),
            to: at(stop),
            name: joint,
            lane: lanes.indexOf(joint),
          })),
          ...state.pins.flatMap((pin) =>
            pin.start === null && pin.stop === null
              ? []
              : [
                  {
                    kind: "pin",
                    from: at(pin.start ?? 0),
                    to: at(pin.stop ?? state.seconds),
                    name: pointName(pin.point),
                  },
                ],
          ),
          ...state.contacts.map((contact) => ({
            kind: "contact",
            from: at(contact.start),
            to: at(contact.stop),
            name: pointName(contact.point),
          })),
          ...state.holds.map((hold) => ({
            kind: "moment",
            from: at(hold.time),
            to: at(hold.time),
            name: pointName(hold.point),
          })),
        ];
    const now = shown
      .map(({ kind, from, to, name }) => `${kind} ${from.toFixed(0)} ${to.toFixed(0)} ${name}`)
      .join("\n");
    if (now === drawn) return;
    drawn = now;
    replace(
      element,
      ...shown.map(({ kind, from, to, name, lane = 0 }) =>
        h("div", {
          class: `span-${kind}`,
          "data-name": name,
          style: [
            `--lane: ${lane}`,
            `transform: translateX(${from.toFixed(1)}px)`,
            `width: ${widthOf(kind, from, to).toFixed(1)}px`,
          ].join("; "),
        }),
      ),
    );
  }

  session.onState(draw);
  store.onDocument(draw);
  view.onChange(draw);
  return { element, draw };
}
