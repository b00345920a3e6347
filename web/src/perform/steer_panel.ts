/** The steering pad: drag from its middle to walk or run that way; let go to stop. Arrow keys walk. */
import { h } from "../dom";
import type { PerformanceStore } from "./performance_store";

const RADIUS = 64; // px, from the middle to full speed
const SEND_MS = 100; // between two commands while the pointer moves
const REST_SHARE = 0.12; // of the radius around the middle, where it stands
const KEY_SHARE = 0.45; // of full speed, by arrow keys
const ARROWS: Record<string, [number, number]> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

export interface Steering {
  speed: number; // m/s
  heading: number | null; // degrees about +Y from +Z; null keeps the direction
}

/** The speed and heading of a place on the pad: x to the right, y down towards the viewer, 1 is the rim. */
export function steeringAt(x: number, y: number, maxSpeed: number): Steering {
  const far = Math.hypot(x, y);
  if (far < REST_SHARE) return { speed: 0, heading: null };
  const heading = Math.round((Math.atan2(x, y) * 180) / Math.PI);
  return { speed: Number((Math.min(far, 1) * maxSpeed).toFixed(3)), heading };
}

export function steerPanel(performanceStore: PerformanceStore): HTMLElement {
  const knob = h("span", { class: "knob" });
  const figure = h("span", { class: "aside" });
  const pad = h(
    "div",
    {
      class: "steer",
      tabindex: "0",
      role: "application",
      "aria-label": "Steering pad",
      title: "Drag to walk or run that way, down is towards you; let go to stop. Arrow keys walk.",
    },
    knob,
  );
  const section = h("div", { class: "section hidden" }, h("h2", {}, "Go", figure), pad);
  let steered = false;
  let sentAt = Number.NEGATIVE_INFINITY;
  let later = 0;
  let place: [number, number] = [0, 0];

  function send(): void {
    window.clearTimeout(later);
    later = 0;
    sentAt = performance.now();
    const { speed, heading } = steeringAt(place[0], place[1], performanceStore.now?.maxSpeed ?? 0);
    performanceStore.tell(heading === null ? { command: "go", speed } : { command: "go", speed, heading });
  }

  function steer(x: number, y: number): void {
    const far = Math.max(Math.hypot(x, y), 1);
    place = [x / far, y / far];
    knob.style.transform = `translate(${place[0] * RADIUS}px, ${place[1] * RADIUS}px)`;
    const wait = sentAt + SEND_MS - performance.now();
    if (wait <= 0) send();
    else if (!later) later = window.setTimeout(send, wait);
  }

  function stop(): void {
    if (!steered) return;
    steered = false;
    place = [0, 0];
    knob.style.transform = "";
    send();
  }

  function follow(event: PointerEvent): void {
    const box = pad.getBoundingClientRect();
    steer((event.clientX - box.left - box.width / 2) / RADIUS, (event.clientY - box.top - box.height / 2) / RADIUS);
  }

  pad.addEventListener("pointerdown", (event) => {
    steered = true;
    pad.setPointerCapture(event.pointerId);
    follow(event);
  });
  pad.addEventListener("pointermove", (event) => {
    if (steered && pad.hasPointerCapture(event.pointerId)) follow(event);
  });
  for (const name of ["pointerup", "pointercancel", "blur"] as const) pad.addEventListener(name, stop);
  pad.addEventListener("keydown", (event) => {
    const arrow = ARROWS[event.key];
    if (!arrow) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat) return;
    steered = true;
    steer(arrow[0] * KEY_SHARE, arrow[1] * KEY_SHARE);
  });
  pad.addEventListener("keyup", (event) => {
    if (ARROWS[event.key]) stop();
  });

  performanceStore.on((event) => {
    section.classList.toggle("hidden", event.maxSpeed === null);
    figure.textContent = event.speed > 0.01 ? `${event.speed.toFixed(1)} m/s` : "";
  });
  performanceStore.onModel((model) => {
    if (!model) section.classList.add("hidden");
  });
  return section;
}
