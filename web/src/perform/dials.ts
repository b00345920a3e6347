/** The dials: liveliness, stillness, and how far the eyes follow the pointer. */
import type { Context } from "../context";
import { type Slider, slider } from "../controls/slider";
import { h } from "../dom";
import type { PerformanceStore } from "./performance_store";

export function dialsPanel({ connection }: Context, performanceStore: PerformanceStore): HTMLElement {
  let changedAt = 0; // ms, last change on this page: values that the server sends shortly after it are old
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
        changedAt = performance.now();
        connection.send({ kind: "dial", [name]: value });
      },
    });
  const liveliness = dial("liveliness", "Liveliness", 4, 1, "How much moves by itself: 0 nothing, 1 as the clips do");
  const stillness = dial("stillness", "Stillness", 1, 0, "Calms held poses; 1 holds still");
  const gaze = dial("gaze", "Gaze", 1, 1, "How far the eyes follow the pointer over the stage; 0 lets them wander");
  const noEyesHint = h(
    "p",
    { class: "muted hidden" },
    "No eyes were found on this character, so the gaze changes nothing.",
  );
  const panel = h(
    "div",
    { class: "section" },
    h("h2", {}, "Dials"),
    liveliness.element,
    stillness.element,
    gaze.element,
    noEyesHint,
  );

  performanceStore.on((event) => {
    const sees = event.gaze !== null;
    gaze.element.classList.toggle("hidden", !sees);
    noEyesHint.classList.toggle("hidden", sees);
    if (performance.now() - changedAt < 600) return;
    if (liveliness.value !== event.liveliness) liveliness.value = event.liveliness;
    if (stillness.value !== event.stillness) stillness.value = event.stillness;
    if (event.gaze !== null && gaze.value !== event.gaze) gaze.value = event.gaze;
  });
  performanceStore.onModel((model) => panel.classList.toggle("hidden", model === null));
  return panel;
}
