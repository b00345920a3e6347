/** Over keys and curves: the area outside the playing range, and the times of constraints. */
import type { Context } from "../../context";
import { h, replace } from "../../dom";
import type { EditSession } from "../session";
import { pointName } from "../view";

export interface Spans {
  element: HTMLElement;
  draw(): void;
}

const MOMENT_WIDTH_PX = 6;

const widthOf = (kind: string, from: number, to: number): number =>
  kind === "moment" ? MOMENT_WIDTH_PX : Math.max(0, to - from);

/** `at` returns the x position of a time, in px. */
export function createSpans({ store }: Context, session: EditSession, at: (time: number) => number): Spans {
  const element = h("div", { class: "graph-spans", "data-testid": "graph-spans" });
  let drawn = "";

  function outside(seconds: number): { kind: string; from: number; to: number; name: string }[] {
    const stage = store.document?.stage;
    const [start, stop] = [stage?.start ?? 0, Math.min(stage?.stop ?? seconds, seconds)];
    const [first, last] = [at(-1e4), at(1e4)];
    return [
      ...(start > 1e-6 ? [{ kind: "outside", from: first, to: at(start), name: "" }] : []),
      ...(stop < seconds - 1e-6 ? [{ kind: "outside", from: at(stop), to: last, name: "" }] : []),
    ];
  }

  function draw(): void {
    const state = session.state;
    const shown =
      !state || state.baked
        ? []
        : [
            ...outside(state.seconds),
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
      ...shown.map(({ kind, from, to, name }) =>
        h("div", {
          class: `span-${kind}`,
          "data-name": name,
          style: `transform: translateX(${from.toFixed(1)}px); width: ${widthOf(kind, from, to).toFixed(1)}px`,
        }),
      ),
    );
  }

  session.onState(draw);
  store.onDocument(draw);
  return { element, draw };
}
