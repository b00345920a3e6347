/** Poses: set and remove keys; copy, paste and mirror a pose; tween between the neighbouring keys. */
import type { Context } from "../context";
import { slider } from "../controls/slider";
import { h } from "../dom";
import type { EditActions } from "./actions";
import type { EditSession } from "./session";
import type { EditView } from "./view";

export function poseSection(
  { store }: Context,
  session: EditSession,
  view: EditView,
  actions: EditActions,
): HTMLElement {
  const where = h("p", { class: "muted", "data-testid": "edit-at-key" });
  const button = (title: string, key: string, about: string, run: () => void, testid: string): HTMLButtonElement =>
    h(
      "button",
      { type: "button", class: "small", title: about, "data-testid": testid, onclick: run },
      title,
      h("kbd", {}, key),
    );
  const setKey = button(
    "Set keys",
    "I",
    "Set keys of all channels here; the motion stays as it is",
    actions.key,
    "edit-key",
  );
  const unkey = button("Remove", "Alt I", "Remove the keys here", actions.unkey, "edit-unkey");
  const copy = button("Copy", "Ctrl C", "Copy the pose", actions.copyPose, "edit-copy");
  const paste = button("Paste", "Ctrl V", "Paste the pose as keys here", () => actions.pastePose(false), "edit-paste");
  const mirror = button(
    "Mirror",
    "Ctrl Shift V",
    "Paste the pose with left and right exchanged",
    () => actions.pastePose(true),
    "edit-mirror",
  );
  const adds = h("input", { type: "checkbox", "data-testid": "edit-adds-keys" });
  adds.addEventListener("change", () => (view.addsKeys = adds.checked));
  let number = 0;
  const send = (share: number, final: boolean): void => {
    const message = { kind: "editTween", time: actions.now(), share, final, number: ++number } as const;
    if (final) void session.ask(message).then(() => (tween.value = 0.5));
    else session.tell(message);
  };
  const tween = slider({
    label: "Tween",
    value: 0.5,
    reset: 0.5,
    minimum: -0.25,
    maximum: 1.25,
    step: 0.01,
    about: "Sets keys to a pose between the key before (0) and the key after (1); values beyond them overshoot.",
    input: (value) => send(value, false),
    change: (value) => send(value, true),
    cancel: () => session.tell({ kind: "editAbandon" }),
  });
  tween.element.dataset.testid = "edit-tween";
  // Return the keys to the mode after a drag of the slider.
  tween.element.addEventListener("pointerup", () => (document.activeElement as HTMLElement | null)?.blur());

  function draw(): void {
    const state = session.state;
    const isAtKey = actions.atKey();
    const now = actions.now();
    const channels =
      state?.channels.filter((channel) => channel.times.some((time) => Math.abs(time - now) < 2e-3)).length ?? 0;
    where.textContent = isAtKey
      ? `At a key of ${channels} of ${state?.channels.length ?? 0} channels.`
      : "Between keys. ↑ and ↓ go to the next one; I sets one here.";
    unkey.disabled = !isAtKey;
    paste.disabled = !state?.copied;
    mirror.disabled = !state?.copied || !state.pairs;
    adds.checked = view.addsKeys;
  }
  store.onTime(draw);
  session.onState(draw);
  view.onChange(draw);
  return h(
    "div",
    { class: "section", "data-testid": "edit-pose-section" },
    h("h2", {}, "Keys and poses"),
    where,
    h("div", { class: "buttons" }, setKey, unkey),
    h("div", { class: "buttons" }, copy, paste, mirror),
    tween.element,
    h(
      "label",
      { class: "check", title: "If off, posing moves only channels with a key here" },
      adds,
      "Posing may add keys here",
    ),
  );
}
