/** The dials: how lively, how still, and how far the eyes follow the pointer. */
import type { Context } from "../context";
import { type Slider, slider } from "../controls/slider";
import { h } from "../dom";
import type { Performing } from "./performance_store";

export function dialsPanel({ connection }: Context, performing: Performing): HTMLElement {
  let touched = 0; // when a dial was last turned here: the server's echo of before is not listened to
  const dial = (
    name: "liveliness" | "stillness" | "gaze",
    label: string,
    maximum: number,
    reset: number,
    about: string,
  ): Slider =>
    slider({
      label,
      about,
      value: reset,
      reset,
      maximum,
      step: 0.05,
      digits: 2,
      input(value) {
        touched = performance.now();
        connection.tell({ kind: "dial", [name]: value });
      },
    });
  const liveliness = dial("liveliness", "Liveliness", 4, 1, "How much moves by itself: 0 nothing, 1 as the clips do");
  const stillness = dial("stillness", "Stillness", 1, 0, "Calms what is held; 1 holds still");
  const gaze = dial(
    "gaze",
    "Gaze",
    1,
    1,
    "How far the eyes follow the pointer over the stage; 0 leaves them to wander",
  );
  const blind = h("p", { class: "muted hidden" }, "No eyes were found on this character, so the gaze changes nothing.");
  const panel = h(
    "div",
    { class: "section" },
    h("h2", {}, "Dials"),
    liveliness.element,
    stillness.element,
    gaze.element,
    blind,
  );

  performing.on((event) => {
    const sees = event.gaze !== null;
    gaze.element.classList.toggle("hidden", !sees);
    blind.classList.toggle("hidden", sees);
    if (performance.now() - touched < 600) return;
    if (liveliness.value !== event.liveliness) liveliness.value = event.liveliness;
    if (stillness.value !== event.stillness) stillness.value = event.stillness;
    if (event.gaze !== null && gaze.value !== event.gaze) gaze.value = event.gaze;
  });
  performing.onModel((model) => panel.classList.toggle("hidden", model === null));
  return panel;
}
