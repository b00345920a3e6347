/** The latent map: a canvas with names over it. Hovering shows a moment, a click moves there. */
import { WebGLRenderer } from "three";
import { h } from "../dom";
import type { Stage } from "../stage/api";
import { hueOf } from "./hues";
import { MapBackground } from "./map_background";
import { type LatentMap, type Moment, mapPosition, momentOf } from "./map_file";
import { nearestPoint } from "./map_picking";
import { createMapScene, type MapScene } from "./map_scene";
import { createOrbit } from "./orbit";
import { Trail } from "./trail";

const HIT_RADIUS_PX = 14; // around the pointer
const MAX_FPS = 30; // the particle is slow, and the stage needs the time
const MAX_STILL_SHARE = 0.25; // of the time for the still part, while the view turns
const MAX_PAUSE_MS = 250; // between two frames
const FRAMES_PER_MEASUREMENT = 20; // frames of the still part
const STAGE_FRAMES_PER_FRAME = 3; // with software rendering
const MAX_NAMES = 24; // with more labels, only the current name and the hovered name are shown

export interface MapView {
  readonly element: HTMLElement;
  /** Shows a map; null removes it. */
  show(map: LatentMap | null): void;
  /** The positions of the voices from the server. */
  report(voices: readonly { label: string; x: readonly number[]; weight: number }[], label: string): void;
  /** Draws only while it is visible. */
  awake: boolean;
  /** Call after the element has changed its size or position. */
  updateLayout(): void;
  readonly pictures: number; // rendered frames, for tests
}

/** The centre of all labels' spheres, and half of their extent. */
export function boundsOf(map: LatentMap | null): { middle: [number, number, number]; half: [number, number, number] } {
  const sides = [0, 1, 2].map((k) => {
    const ends = (map?.labels ?? []).flatMap((label) => [
      label.centre[k] - label.radius,
      label.centre[k] + label.radius,
    ]);
    return ends.length ? [Math.min(...ends), Math.max(...ends)] : [-1, 1];
  });
  const along = (of: (low: number, high: number) => number) =>
    sides.map(([low, high]) => of(low, high)) as [number, number, number];
  return { middle: along((low, high) => (low + high) / 2), half: along((low, high) => (high - low) / 2) };
}

export interface MapActions {
  move(moment: Moment): void; // a moment was clicked
  transition(label: string): void; // a label's name was clicked
}

export function createMapView(actions: MapActions, stage: Pick<Stage, "software" | "onDrawn">): MapView {
  const canvas = h("canvas", { "aria-hidden": "true" });
  const names = h("div", { class: "map-names" });
  const ring = h("div", { class: "map-ring hidden", "aria-hidden": "true" });
  const tip = h("div", { class: "map-tip hidden", role: "status" });
  const element = h(
    "div",
    { class: "map", role: "group", "aria-label": "Latent map: every point is a pose, every curve a clip", tabindex: 0 },
    canvas,
    names,
    ring,
    tip,
  );
  const orbit = createOrbit(element, invalidate, moveToMomentAt);
  const trails = new Map<string, Trail>();
  let renderer: WebGLRenderer | null = null;
  let map: LatentMap | null = null;
  let scene: MapScene | null = null;
  let nameButtons: HTMLElement[] = [];
  let hovered: Moment | null = null;
  let pointer: { x: number; y: number } | null = null;
  let current = "";
  let radius = 1;
  const background = new MapBackground();
  let stale = true; // the cached background is out of date
  let stillPause = 1000 / MAX_FPS;
  let stageFrames = 0; // rendered frames of the stage since the last one here
  let [isRequested, drawnAt, awake, pictures, stillCount] = [false, 0, false, 0, 0];
  if (stage.software) stage.onDrawn(() => (stageFrames += 1));
  canvas.addEventListener("webglcontextrestored", invalidate);

  function invalidate(): void {
    stale = true;
    requestDraw();
  }

  function requestDraw(): void {
    if (isRequested || !awake) return;
    isRequested = true;
    requestAnimationFrame(render);
  }

  /** Whether it is too early to render again. A frame right after one of the stage costs less. */
  function isTooEarly(now: number): boolean {
    const pause = now - drawnAt;
    if (pause >= MAX_PAUSE_MS) return false;
    return (
      pause < (stale ? stillPause : 1000 / MAX_FPS) - 4 ||
      (stage.software && !stale && stageFrames < STAGE_FRAMES_PER_FRAME)
    );
  }

  function render(now: number): void {
    if (isTooEarly(now)) return void requestAnimationFrame(render);
    [isRequested, drawnAt, stageFrames] = [false, now, 0];
    const [width, height] = [element.clientWidth, element.clientHeight];
    if (!scene || !map || !awake || !width || !height) return;
    const ratio = Math.min(devicePixelRatio, 2);
    renderer ??= new WebGLRenderer({ canvas, antialias: true, alpha: true, powerPreference: "low-power" });
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      renderer.setPixelRatio(ratio);
      renderer.setSize(width, height, false);
      orbit.resize(width, height);
    }
    const live = [...trails.values()];
    scene.setView(width * ratio, height * ratio, ratio, orbit.camera.position.length(), radius);
    if (stale) drawStill(renderer, scene);
    else background.draw(renderer, orbit.camera);
    renderer.autoClear = false;
    scene.showOnly("moving");
    scene.particles(live, now);
    renderer.render(scene.scene, orbit.camera);
    renderer.autoClear = true;
    pictures += 1;
    layOutNames(width, height);
    if (live.some((trail) => !trail.isResting(now))) requestDraw();
  }

  function drawStill(to: WebGLRenderer, from: MapScene): void {
    from.showOnly("still");
    to.render(from.scene, orbit.camera);
    background.capture(to);
    stale = false;
    if (stillCount++ % FRAMES_PER_MEASUREMENT === 0) measureCost(to);
  }

  /** Measures the cost now and then: with software rendering, fewer frames are drawn. */
  function measureCost(from: WebGLRenderer): void {
    const began = performance.now();
    const gl = from.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits until drawing is done
    stillPause = Math.min(MAX_PAUSE_MS, Math.max(1000 / MAX_FPS, (performance.now() - began) / MAX_STILL_SHARE));
  }

  /** Places the names and the ring over the image. */
  function layOutNames(width: number, height: number): void {
    if (!map) return;
    const { labels } = map;
    const up = orbit.camera.up;
    labels.forEach((label, number) => {
      const above = label.centre.map((value, k) => value + 1.02 * label.radius * up.getComponent(k));
      const at = onScreen(above, width, height);
      const hidden = !at || (labels.length > MAX_NAMES && label.label !== current && label.label !== hovered?.label);
      nameButtons[number].classList.toggle("hidden", hidden);
      if (!at) return;
      nameButtons[number].style.transform =
        `translate(-50%, -100%) translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
    });
    const point =
      hovered && onScreen([...map.points.subarray(3 * hovered.point, 3 * hovered.point + 3)], width, height);
    ring.classList.toggle("hidden", !point);
    if (point)
      ring.style.transform = `translate(-50%, -50%) translate(${point.x.toFixed(1)}px, ${point.y.toFixed(1)}px)`;
  }

  function clipFromWorld(): number[] {
    return orbit.camera.projectionMatrix.clone().multiply(orbit.camera.matrixWorldInverse).elements;
  }

  function onScreen(place: number[], width: number, height: number): { x: number; y: number } | null {
    const m = clipFromWorld();
    const [x, y, z] = place;
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w <= 0) return null;
    const [cx, cy] = [(m[0] * x + m[4] * y + m[8] * z + m[12]) / w, (m[1] * x + m[5] * y + m[9] * z + m[13]) / w];
    return { x: (cx + 1) * 0.5 * width, y: (1 - cy) * 0.5 * height };
  }

  function momentAt(clientX: number, clientY: number): Moment | null {
    if (!map) return null;
    const box = element.getBoundingClientRect();
    const point = nearestPoint(
      map.points,
      clipFromWorld(),
      box.width,
      box.height,
      clientX - box.left,
      clientY - box.top,
      HIT_RADIUS_PX,
    );
    return point < 0 ? null : momentOf(map, point);
  }

  function hover(): void {
    hovered = pointer && !element.classList.contains("dragging") ? momentAt(pointer.x, pointer.y) : null;
    tip.classList.toggle("hidden", !hovered);
    element.classList.toggle("aims", hovered !== null);
    if (hovered && pointer) {
      const box = element.getBoundingClientRect();
      tip.style.setProperty("--hue", hueOf(hovered.label));
      tip.replaceChildren(
        h("span", { class: "dot" }),
        `${hovered.clip}  ${hovered.seconds.toFixed(2)} s`,
        h("span", { class: "muted" }, "click to move there"),
      );
      const left = Math.min(Math.max(pointer.x - box.left + 12, 4), box.width - tip.offsetWidth - 4);
      const top = pointer.y - box.top + (pointer.y - box.top > box.height - 60 ? -40 : 16);
      tip.style.transform = `translate(${left}px, ${top}px)`;
    }
    requestDraw();
  }

  function moveToMomentAt(x: number, y: number): void {
    const moment = momentAt(x, y);
    if (moment) actions.move(moment);
  }

  element.addEventListener("pointermove", (event) => {
    pointer = { x: event.clientX, y: event.clientY };
    hover();
  });
  element.addEventListener("pointerleave", () => {
    pointer = null;
    hover();
  });
  element.addEventListener("dblclick", (event) => {
    if (!momentAt(event.clientX, event.clientY)) orbit.home();
  });
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
    const turns: Record<string, [number, number]> = {
      ArrowLeft: [-0.1, 0],
      ArrowRight: [0.1, 0],
      ArrowUp: [0, 0.1],
      ArrowDown: [0, -0.1],
    };
    if (event.key in turns) orbit.turn(...turns[event.key]);
    else if (event.key === "+" || event.key === "-") orbit.zoom(event.key === "+" ? 0.9 : 1.1);
    else if (event.key === "Home") orbit.home();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(requestDraw).observe(element);

  return {
    element,
    show(next) {
      scene?.dispose();
      trails.clear();
      map = next;
      scene = next && createMapScene(next);
      stale = true;
      hovered = null;
      current = "";
      nameButtons = (next?.labels ?? []).map((label) => {
        const about = `Transition to ${label.label}: ${label.frames} frames`;
        return h(
          "button",
          {
            class: "map-name",
            type: "button",
            style: `--hue: ${hueOf(label.label)}`,
            title: about,
            onclick: () => actions.transition(label.label),
          },
          label.label,
        );
      });
      names.replaceChildren(...nameButtons);
      for (const tag of nameButtons) tag.addEventListener("pointerdown", (event) => event.stopPropagation());
      const { middle, half } = boundsOf(next);
      radius = Math.hypot(...half);
      orbit.home(middle, half);
      requestDraw();
    },
    report(voices, label) {
      const now = performance.now();
      if (!map || !scene) return;
      const { labels } = map;
      voices.forEach((voice, number) => {
        const entry = labels.find((candidate) => candidate.label === voice.label);
        if (!entry) return;
        const name = number === 0 ? "first" : voice.label; // bridges change the label of the first voice
        const trail = trails.get(name) ?? new Trail();
        trails.set(name, trail);
        trail.add(now, mapPosition(entry, voice.x), voice.weight);
      });
      for (const [name, trail] of trails) if (trail.isResting(now)) trails.delete(name);
      if (label !== current) {
        current = label;
        scene.emphasise(label);
        stale = true;
        for (const [number, entry] of map.labels.entries())
          nameButtons[number].classList.toggle("current", entry.label === label);
      }
      requestDraw();
    },
    get awake() {
      return awake;
    },
    set awake(next: boolean) {
      awake = next;
      requestDraw();
    },
    updateLayout() {
      pointer = null; // its position on the map has changed
      hover();
    },
    get pictures() {
      return pictures;
    },
  };
}
