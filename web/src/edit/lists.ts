/** The panel's lists: the shown curves, and the constraints. */
import type { Context } from "../context";
import { h, icon, replace } from "../dom";
import type { ContactEntry, HoldEntry, MotionCurveEntry, PinEntry, PointRef } from "../protocol/messages";
import type { EditActions } from "./actions";
import type { EditSession } from "./session";
import { type EditView, jointPoint, pointName, samePoint } from "./view";

const PIN = "M6 2h4l-.5 4L12 8.5H4L6.5 6zM8 8.5V14";
const TURN = "M13 6a5.5 5.5 0 1 0 .5 3.5M13.2 2.2V6H9.4";
const CLOSE = "M4 4l8 8M12 4l-8 8";

const iconButton = (name: string, path: string, run: () => void, pressed?: boolean, testid?: string): HTMLElement =>
  h(
    "button",
    {
      type: "button",
      class: "quiet small square",
      "aria-label": name,
      title: name,
      "aria-pressed": pressed === undefined ? null : String(pressed),
      "data-testid": testid,
      onclick: run,
    },
    icon(path),
  );

export function pathsSection(
  { stage, store }: Context,
  session: EditSession,
  view: EditView,
  actions: EditActions,
): HTMLElement {
  const list = h("div", { class: "list", "data-testid": "edit-curves" });
  const aside = h("span", { class: "aside" });
  const find = h("input", {
    type: "search",
    placeholder: "Add a joint by name",
    "aria-label": "Add a joint by name",
    list: "edit-joints",
    "data-testid": "edit-add-joint",
  });
  const joints = h("datalist", { id: "edit-joints" });
  const picks = h("button", {
    type: "button",
    class: "small",
    "data-testid": "edit-picks",
    onclick: () => (view.picks = view.picks === "joint" ? "skin" : "joint"),
  });
  find.addEventListener("change", () => {
    const name = find.value.trim();
    if (!name) return;
    find.value = "";
    find.blur(); // returns the keys to the mode
    // The server checks the name: the page knows the joints only when the character is on stage.
    void actions.show(jointPoint(name), name, "too").then((isShown) => {
      if (!isShown && !find.value) find.value = name; // to be corrected
    });
  });
  const names = (): readonly string[] => stage.joints;

  function row({ curve, name, point }: MotionCurveEntry): HTMLElement {
    const pinned = session.state?.pins.some((pin) => samePoint(pin.point, point)) ?? false;
    return h(
      "div",
      { class: `row${curve === view.active ? " current" : ""}`, "data-testid": "edit-curve", "data-name": name },
      h(
        "button",
        {
          type: "button",
          class: "quiet small grow nowrap",
          "aria-pressed": String(curve === view.active),
          title: `Make ${name} active`,
          onclick: () => actions.activate(curve),
        },
        name,
      ),
      iconButton(
        pinned ? `Release the pin of ${name} (P)` : `Pin ${name}: keep its path (P)`,
        PIN,
        () => actions.togglePin(point),
        pinned,
        "edit-pin",
      ),
      iconButton(`Hide the path of ${name} (H)`, CLOSE, () => actions.hide(curve), undefined, "edit-hide"),
    );
  }

  function draw(): void {
    const curves = session.state?.curves ?? [];
    aside.textContent = curves.length ? String(curves.length) : "";
    replace(
      list,
      ...curves.map(row),
      curves.length
        ? null
        : h(
            "p",
            { class: "muted" },
            "Click a point of the character: its path over time is drawn on stage. With Shift, one more.",
          ),
    );
    picks.textContent = view.picks === "joint" ? "Picks joints" : "Picks the skin";
    picks.title =
      view.picks === "joint"
        ? "A click selects the joint under the pointer; click here to select points of the skin"
        : "A click selects the point of the skin; click here to select joints";
  }

  let known = "";
  find.addEventListener("focus", () => {
    const now = names();
    if (now.join("\n") === known) return;
    known = now.join("\n");
    replace(joints, ...now.map((name) => h("option", { value: name })));
  });
  session.onState(draw);
  view.onChange(draw);
  store.onDocument(draw);
  return h(
    "div",
    { class: "section" },
    h("h2", {}, "Paths", aside),
    list,
    h("div", { class: "spread" }, find, picks),
    joints,
  );
}

type ConstraintRow = { id: string; point: PointRef; what: string; when: string; time: number | null };

/** All constraints: pins, contacts, then moments. */
export function constraintRows(state: {
  pins: readonly PinEntry[];
  contacts: readonly ContactEntry[];
  holds: readonly HoldEntry[];
}): ConstraintRow[] {
  const span = (start: number | null, stop: number | null): string =>
    start === null && stop === null
      ? "always"
      : `${start === null ? "start" : start.toFixed(2)}–${stop === null ? "end" : stop.toFixed(2)} s`;
  return [
    ...state.pins.map(({ id, point, start, stop, orientation }) => ({
      id,
      point,
      what: orientation ? "pin" : "pin, free to turn",
      when: span(start, stop),
      time: null,
    })),
    ...state.contacts.map(({ id, point, start, stop }) => ({
      id,
      point,
      what: "contact",
      when: span(start, stop),
      time: start,
    })),
    ...state.holds.map(({ id, point, time }) => ({ id, point, what: "moment", when: `${time.toFixed(2)} s`, time })),
  ];
}

export function constraintSection(session: EditSession, view: EditView, actions: EditActions): HTMLElement {
  const list = h("div", { class: "list", "data-testid": "edit-held" });
  const aside = h("span", { class: "aside" });
  const name = (): string => {
    const point = actions.point();
    return point ? pointName(point) : "the active point";
  };
  const add = (title: string, key: string, about: () => string, run: () => void, testid: string): HTMLButtonElement => {
    const element = h(
      "button",
      { type: "button", class: "small", "data-testid": testid, onclick: run },
      title,
      h("kbd", {}, key),
    );
    buttonUpdates.push(() => {
      element.disabled = actions.point() === null;
      element.title = about();
    });
    return element;
  };
  const buttonUpdates: (() => void)[] = [];
  const buttons = h(
    "div",
    { class: "buttons" },
    add(
      "Pin",
      "P",
      () => `Keep the path of ${name()} while others are moved`,
      () => actions.togglePin(actions.point()),
      "edit-set-pin",
    ),
    add(
      "Contact",
      "C",
      () => `${name()} stands still between the keys around now`,
      () => actions.contact(actions.point()),
      "edit-set-contact",
    ),
    add(
      "Moment",
      "K",
      () => `${name()} keeps its position at this time`,
      () => actions.hold(actions.point(), actions.now()),
      "edit-set-hold",
    ),
  );

  /** The button that toggles the orientation of a pin; null for other constraints. */
  function turnButton(id: string): HTMLElement | null {
    const pin = session.state?.pins.find((entry) => entry.id === id);
    if (!pin) return null;
    const title = pin.orientation
      ? "Keeps its orientation too; click to let it turn"
      : "Free to turn; click to keep its orientation";
    return iconButton(
      title,
      TURN,
      () =>
        void session.ask({
          kind: "editPin",
          point: pin.point,
          orientation: !pin.orientation,
          start: pin.start,
          stop: pin.stop,
          held: id,
        }),
      pin.orientation,
      "edit-pin-turn",
    );
  }

  function draw(): void {
    const held = session.state ? constraintRows(session.state) : [];
    aside.textContent = held.length ? String(held.length) : "";
    replace(
      list,
      ...held.map(({ id, point, what, when, time }) =>
        h(
          "div",
          { class: "row", "data-testid": "edit-held-row", "data-what": what },
          h("span", { class: `glyph held-${what.split(",")[0]}`, "aria-hidden": "true" }),
          h(
            "button",
            {
              type: "button",
              class: "quiet small nowrap grow",
              title: `Make ${pointName(point)} active${time === null ? "" : `, at ${time.toFixed(2)} s`}`,
              onclick: () => actions.focusPoint(point, time),
            },
            pointName(point),
          ),
          h("span", { class: "muted" }, [what.split(",")[0], when === "always" ? "" : when].join(" ").trim()),
          turnButton(id),
          iconButton(
            `Release ${pointName(point)} (${what})`,
            CLOSE,
            () => actions.release(id),
            undefined,
            "edit-release",
          ),
        ),
      ),
      held.length
        ? null
        : h(
            "p",
            { class: "muted" },
            "No constraints. A pin keeps a path, a contact stands still, a moment keeps a position at one time.",
          ),
    );
    for (const adder of buttonUpdates) adder();
  }

  session.onState(draw);
  view.onChange(draw);
  return h("div", { class: "section" }, h("h2", {}, "Held", aside), buttons, list);
}
