/** A character and one clip in a page of its own: orbit, play, step and scrub, without a server. */
import { h, icon } from "../dom";
import { clock } from "../shell/time";
import { ICONS } from "../shell/transport_bar";
import { createStage, type Stage } from "../stage/api";
import theme from "../theme.css?inline";
import { type Payload, Poses, unpack } from "./payload";
import { Playback } from "./playback";
import css from "./viewer.css?inline";

const DATA_ID = "understudy-data";
const TARGET_ICON = "M8 3.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M8 1v4M8 11v4M1 8h4M11 8h4";
const MAX_STEP_S = 0.25; // of one animation frame: after a pause of the browser, playing goes on where it was

class Viewer {
  private readonly playback: Playback;
  private readonly stageHost = h("div", { class: "stage" }, h("p", { class: "message" }, "Loading"));
  private readonly play = h("button", { class: "square play", type: "button" });
  private readonly loop = button("Loop", ICONS.loop, () => this.toggleLoop());
  private readonly scrubber: HTMLInputElement;
  private readonly time = h("span", {});
  private readonly frameNumber = h("span", { class: "frame-number muted" });
  private stage: Stage | null = null;
  private poses: Poses | null = null;
  private shown = -1; // the frame on stage
  private contextLost = false; // the browser gave the graphics context to another viewer
  private visible = false;
  private requestId = 0; // of requestAnimationFrame; 0 without one
  private lastTick = 0; // ms

  constructor(
    private readonly payload: Payload,
    host: HTMLElement,
  ) {
    this.playback = new Playback(payload.frames, payload.rate);
    this.playback.playing = payload.play && payload.frames > 1 && !matchMedia("(prefers-reduced-motion)").matches;
    this.scrubber = h("input", {
      type: "range",
      class: "scrubber",
      min: 0,
      max: Math.max(1, payload.frames - 1),
      step: 1,
      value: 0,
      "aria-label": "Frame",
      oninput: () => this.showFrame(Number(this.scrubber.value)),
    });
    this.play.addEventListener("click", () => this.toggle());
    host.append(h("div", { class: "viewer" }, this.stageHost, this.createBar()));
    document.addEventListener("keydown", (event) => this.handleKey(event));
    document.addEventListener("visibilitychange", () => this.tickLater());
    this.listenToWheel();
    // A notebook may have many viewers, but a browser has few graphics contexts: begin when it is scrolled into view.
    new IntersectionObserver((entries) => {
      this.visible = entries.at(-1)?.isIntersecting ?? false;
      if (this.visible && (!this.stage || this.contextLost)) void this.createStage();
      this.tickLater();
    }).observe(this.stageHost);
    this.draw();
  }

  private createBar(): HTMLElement {
    const { payload } = this;
    const name = [payload.character, payload.clip].filter(Boolean).join(" · ");
    const title = h("span", { class: "title nowrap", title: payload.note || name }, name);
    const back = button("One frame back (←)", ICONS.back, () => this.step(-1));
    const forward = button("One frame on (→)", ICONS.forward, () => this.step(1));
    for (const element of [back, forward]) element.classList.add("step");
    const moves = payload.frames > 1;
    const bar = h(
      "div",
      { class: "bar", role: "toolbar", "aria-label": "Transport" },
      moves && this.play,
      moves && back,
      moves && forward,
      title,
      moves ? this.scrubber : h("span", { class: "spring" }),
      moves && h("output", { class: "clock", "aria-label": "Time" }, this.time, this.frameNumber),
      moves && this.loop,
      button("Show all (Home)", TARGET_ICON, () => this.stage?.frameAll()),
    );
    // The keys stay with the stage after a click, so that Space always plays.
    bar.addEventListener("mousedown", (event) => {
      if (event.target !== this.scrubber) event.preventDefault();
    });
    bar.addEventListener("click", (event) => {
      if (event.detail) this.stage?.canvas.focus();
    });
    return bar;
  }

  private async createStage(): Promise<void> {
    const { payload } = this;
    const view = this.stage?.view;
    this.stage?.dispose();
    [this.contextLost, this.shown] = [false, -1];
    try {
      this.stage = createStage(this.stageHost);
      this.stage.canvas.addEventListener("webglcontextlost", () => {
        this.contextLost = true;
      });
      this.stage.canvas.addEventListener("webglcontextrestored", () => {
        this.contextLost = false;
      });
      const [description, poses, images] = await Promise.all([
        unpack(payload.description),
        unpack(payload.poses),
        Promise.all(payload.images.map(async ({ mime, data }) => new Blob([await unpack(data)], { type: mime }))),
      ]);
      this.poses = payload.frames ? new Poses(payload, poses) : null;
      this.showPose();
      await this.stage.show(description, (texture) => images[texture]);
      if (view) this.stage.view = view;
      this.stageHost.querySelector(".message")?.remove();
      this.stage.canvas.setAttribute("aria-label", `${payload.character}: drag to turn, wheel to zoom`);
      this.stage.canvas.dataset.ready = "";
    } catch (reason) {
      this.stage = null;
      const message = this.stageHost.querySelector(".message");
      if (message) message.textContent = reason instanceof Error ? reason.message : String(reason);
    }
    this.tickLater();
  }

  private toggle(): void {
    this.playback.toggle();
    this.draw();
  }

  private toggleLoop(): void {
    this.playback.loop = !this.playback.loop;
    this.draw();
  }

  private step(frames: number): void {
    this.showFrame(this.playback.frame + frames);
  }

  private showFrame(frame: number): void {
    this.playback.showFrame(frame);
    this.draw();
  }

  private handleKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target instanceof HTMLButtonElement) return; // it presses the button
    const { frames } = this.playback;
    const actions: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowLeft: () => (event.shiftKey ? this.showFrame(0) : this.step(-1)),
      ArrowRight: () => (event.shiftKey ? this.showFrame(frames - 1) : this.step(1)),
      Home: () => this.stage?.frameAll(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** Inside a notebook the wheel scrolls the notebook until the viewer is clicked. */
  private listenToWheel(): void {
    const scrolls = (event: WheelEvent): void => {
      if (window.parent !== window && !document.hasFocus() && !event.ctrlKey) event.stopPropagation();
    };
    this.stageHost.addEventListener("wheel", scrolls, { capture: true, passive: true });
  }

  /** Shows the current time, and goes on while the clip plays. */
  private draw(): void {
    const { playback } = this;
    this.showPose();
    this.scrubber.value = String(playback.frame);
    const isLong = playback.duration > 0;
    this.scrubber.setAttribute("aria-valuetext", `${clock(playback.frame / playback.rate)}, frame ${playback.frame}`);
    this.time.textContent = isLong ? `${clock(playback.frame / playback.rate)} / ${clock(playback.duration)}` : "";
    this.frameNumber.textContent = ` · frame ${playback.frame}`;
    const label = playback.playing ? "Pause" : "Play";
    if (this.play.getAttribute("aria-label") !== label) {
      this.play.replaceChildren(icon(playback.playing ? ICONS.pause : ICONS.play, !playback.playing));
      this.play.setAttribute("aria-label", label);
      this.play.title = `${label} (Space)`;
    }
    this.loop.setAttribute("aria-pressed", String(playback.loop));
    this.tickLater();
  }

  private showPose(): void {
    const { frame } = this.playback;
    if (!this.stage || !this.poses || frame === this.shown) return;
    this.shown = frame;
    this.stage.frame(this.poses.frame(frame));
  }

  private tickLater(): void {
    if (this.requestId || !this.playback.playing || !this.visible || document.hidden || !this.poses) return;
    this.lastTick = performance.now();
    const tick = (now: number): void => {
      this.requestId = 0;
      if (!this.visible || document.hidden) return;
      this.playback.advance(Math.min(MAX_STEP_S, Math.max(0, (now - this.lastTick) / 1000)));
      this.lastTick = now;
      if (this.playback.playing) this.requestId = requestAnimationFrame(tick);
      this.draw();
    };
    this.requestId = requestAnimationFrame(tick);
  }
}

function button(label: string, path: string, run: () => void): HTMLButtonElement {
  const attributes = { class: "quiet square", type: "button", "aria-label": label, title: label, onclick: run };
  return h("button", attributes, icon(path));
}

function start(): void {
  document.head.append(h("style", {}, theme, css));
  const data = document.getElementById(DATA_ID)?.textContent ?? "";
  new Viewer(JSON.parse(data) as Payload, document.body);
}

start();
