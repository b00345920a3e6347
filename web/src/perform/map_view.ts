/** The latent map in the page: a canvas with names over it. Hover tells a moment, a click moves there. */
import { WebGLRenderer } from "three";
import { h } from "../dom";
import type { Stage } from "../stage/api";
import { hueOf } from "./hues";
import { Backing } from "./map_background";
import { type LatentMap, type Moment, momentOf, placeOf } from "./map_file";
import { nearestPoint } from "./map_picking";
import { createMapScene, type MapScene } from "./map_scene";
import { createOrbit } from "./orbit";
import { Trail } from "./trail";

const REACH = 14; // px around the pointer within which a moment is meant
const PICTURES = 30; // a second at most: the particle is slow, the stage beside it is not
const SHARE = 0.25; // of the time at most is spent on what stands still, while it is turned
const LONGEST_PAUSE = 250; // ms between two pictures
const WEIGHED = 20; // such pictures between two looks at what they cost
const BESIDE = 3; // pictures of the stage for one of the map, where the processor draws both
const NAMES = 24; // labels whose names are shown all the time; of more, the current one and that under the pointer

export interface MapView {
  readonly element: HTMLElement;
  /** Shows a map; null takes it away. */
  show(map: LatentMap | null): void;
  /** Where the voices are, as the server reports. */
  report(voices: readonly { label: string; x: readonly number[]; weight: number }[], label: string): void;
  /** Draws only while it can be seen. */
  awake: boolean;
  /** The element has another size or another place in the page. */
  resized(): void;
  readonly pictures: number; // drawn so far, for tests
}

/** The middle of all labels' balls, and half of their extent. */
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
  const orbit = createOrbit(element, changed, clicked);
  const trails = new Map<string, Trail>();
  let renderer: WebGLRenderer | null = null;
  let map: LatentMap | null = null;
  let scene: MapScene | null = null;
  let tags: HTMLElement[] = [];
  let hovered: Moment | null = null;
  let pointer: { x: number; y: number } | null = null;
  let current = "";
  let radius = 1;
  const backing = new Backing();
  let stale = true; // the backing shows what is no more
  let stillPause = 1000 / PICTURES;
  let staged = 0; // pictures of the stage since the last one here
  let [wanted, drawn, awake, pictures, stills] = [false, 0, false, 0, 0];
  if (stage.software) stage.onDrawn(() => (staged += 1));
  canvas.addEventListener("webglcontextrestored", changed);

  function changed(): void {
    stale = true;
    draw();
  }

  function draw(): void {
    if (wanted || !awake) return;
    wanted = true;
    requestAnimationFrame(picture);
  }

  /** Whether it is too early for another picture. One beside the stage's costs less than one on its own. */
  function early(now: number): boolean {
    const pause = now - drawn;
    if (pause >= LONGEST_PAUSE) return false;
    return pause < (stale ? stillPause : 1000 / PICTURES) - 4 || (stage.software && !stale && staged < BESIDE);
  }

  function picture(now: number): void {
    if (early(now)) return void requestAnimationFrame(picture);
    [wanted, drawn, staged] = [false, now, 0];
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
    scene.view(width * ratio, height * ratio, ratio, orbit.camera.position.length(), radius);
    if (stale) drawStill(renderer, scene);
    else backing.draw(renderer, orbit.camera);
    renderer.autoClear = false;
    scene.only("moving");
    scene.particles(live, now);
    renderer.render(scene.scene, orbit.camera);
    renderer.autoClear = true;
    pictures += 1;
    lay(width, height);
    if (live.some((trail) => !trail.resting(now))) draw();
  }

  function drawStill(to: WebGLRenderer, from: MapScene): void {
    from.only("still");
    to.render(from.scene, orbit.camera);
    backing.take(to);
    stale = false;
    if (stills++ % WEIGHED === 0) weigh(to);
  }

  /** What it costs, once in a while: a browser that draws without a graphics card draws fewer. */
  function weigh(from: WebGLRenderer): void {
    const began = performance.now();
    const gl = from.getContext();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits until it is drawn
    stillPause = Math.min(LONGEST_PAUSE, Math.max(1000 / PICTURES, (performance.now() - began) / SHARE));
  }

  /** Names and the ring where the picture has them. */
  function lay(width: number, height: number): void {
    if (!map) return;
    const { labels } = map;
    const up = orbit.camera.up;
    labels.forEach((label, number) => {
      const above = label.centre.map((value, k) => value + 1.02 * label.radius * up.getComponent(k));
      const at = onScreen(above, width, height);
      const hidden = !at || (labels.length > NAMES && label.label !== current && label.label !== hovered?.label);
      tags[number].classList.toggle("hidden", hidden);
      if (!at) return;
      tags[number].style.transform = `translate(-50%, -100%) translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
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
      REACH,
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
    draw();
  }

  function clicked(x: number, y: number): void {
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
  new ResizeObserver(draw).observe(element);

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
      tags = (next?.labels ?? []).map((label) => {
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
      names.replaceChildren(...tags);
      for (const tag of tags) tag.addEventListener("pointerdown", (event) => event.stopPropagation());
      const { middle, half } = boundsOf(next);
      radius = Math.hypot(...half);
      orbit.home(middle, half);
      draw();
    },
    report(voices, label) {
      const now = performance.now();
      if (!map || !scene) return;
      const { labels } = map;
      voices.forEach((voice, number) => {
        const entry = labels.find((each) => each.label === voice.label);
        if (!entry) return;
        const name = number === 0 ? "first" : voice.label; // the first voice changes its label over bridges
        const trail = trails.get(name) ?? new Trail();
        trails.set(name, trail);
        trail.add(now, placeOf(entry, voice.x), voice.weight);
      });
      for (const [name, trail] of trails) if (trail.resting(now)) trails.delete(name);
      if (label !== current) {
        current = label;
        scene.emphasise(label);
        stale = true;
        for (const [number, entry] of map.labels.entries())
          tags[number].classList.toggle("current", entry.label === label);
      }
      draw();
    },
    get awake() {
      return awake;
    },
    set awake(next: boolean) {
      awake = next;
      draw();
    },
    resized() {
      pointer = null; // it is elsewhere on the map now
      hover();
    },
    get pictures() {
      return pictures;
    },
  };
}
