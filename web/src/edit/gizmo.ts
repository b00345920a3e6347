/** Handles at the active point: axes to move it, rings to turn it, a pair of arrows along the curve for its timing. */
import { Quaternion, Vector3 } from "three";
import type { Context } from "../context";
import type { CurveLayer } from "./curve_layer";
import type { DragController, Grip, Operation } from "./drag";
import { AXES, type Axis, triple, vector } from "./geometry";
import { frameOf } from "./paths";
import type { EditView } from "./view";

const SVG = "http://www.w3.org/2000/svg";
const ARROW_PX = 56;
const CLEARANCE_PX = 16; // around the point, free for the curve
const RING_RADIUS_PX = 58;
const TIME_HANDLE_PX = 34; // from the point to a timing arrow
const RING_STEPS = 48;
const NAMES: Record<Axis, string> = { x: "X", y: "Y", z: "Z" };

type DragHandle = (event: PointerEvent, grip: Partial<Grip> & { operation: Operation }) => void;

/** Creates an SVG element with attributes. */
export function svg(tag: string, attributes: Record<string, string | number>, ...children: SVGElement[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** The front and back of a ring about an axis as SVG paths; `place` gives pixels, `view` is the view direction. */
export function ringPaths(
  axis: Vector3,
  view: Vector3,
  place: (v: Vector3) => { x: number; y: number },
): { front: string; back: string } {
  const u = new Vector3(...(Math.abs(axis.x) < 0.9 ? [1, 0, 0] : [0, 1, 0])).cross(axis).normalize();
  const v = axis.clone().cross(u);
  const parts = { front: "", back: "" };
  let side: keyof typeof parts | null = null;
  for (let i = 0; i <= RING_STEPS; i++) {
    const t = (2 * Math.PI * i) / RING_STEPS;
    const offsetPixel = u.clone().multiplyScalar(Math.cos(t)).addScaledVector(v, Math.sin(t));
    const now = offsetPixel.dot(view) > 1e-3 ? "back" : "front";
    const { x, y } = place(offsetPixel);
    const pixel = `${x.toFixed(1)} ${y.toFixed(1)}`;
    if (side !== null && side !== now) parts[side] += `L${pixel}`;
    parts[now] += `${side === now ? "L" : "M"}${pixel}`;
    side = now;
  }
  return parts;
}

export function createGizmo(
  { stage, store }: Context,
  host: HTMLElement,
  layer: CurveLayer,
  view: EditView,
  drags: DragController,
  ready: () => boolean,
  dragHandle: () => DragHandle,
): { awake: boolean } {
  const root = svg("svg", { class: "edit-gizmo", "aria-hidden": "true" }) as SVGSVGElement;
  host.append(root);
  let awake = false;
  let drawnKey = "";
  let handles = new Map<string, SVGElement>();

  const handle = (name: string, kind: string, grip: () => Partial<Grip> & { operation: Operation }): SVGElement => {
    const existing = handles.get(name);
    if (existing) return existing;
    const element = svg(
      "g",
      { class: `handle-${kind}`, "data-handle": name },
      svg("path", { class: "reach" }),
      svg("path", { class: "line" }),
      svg("path", { class: "back" }),
      svg("text", {}),
    );
    element.addEventListener("pointerdown", (event) => dragHandle()(event as PointerEvent, grip()));
    root.append(element);
    handles.set(name, element);
    return element;
  };
  const draw = (
    element: SVGElement,
    line: string,
    back = "",
    text: { x: number; y: number; said: string } | null = null,
  ): void => {
    const [reach, path, behind, name] = element.children;
    reach.setAttribute("d", line);
    path.setAttribute("d", line);
    behind.setAttribute("d", back);
    name.textContent = text?.said ?? "";
    if (!text) return;
    name.setAttribute("x", text.x.toFixed(1));
    name.setAttribute("y", text.y.toFixed(1));
  };

  function clear(): void {
    if (drawnKey === "") return;
    root.replaceChildren();
    handles = new Map();
    drawnKey = "";
  }

  function update(): void {
    const what = view.tool === "sketch" ? "" : view.tool;
    if (!awake || drags.active) {
      clear();
      return;
    }
    const place = view.active === null ? null : layer.place(view.active, store.time);
    const turn = view.active === null ? null : layer.rotation(view.active, store.time);
    if (!what || !ready() || !place || !turn || store.document?.stage.playing || (view.posing && what === "time")) {
      clear();
      return;
    }
    const at = stage.project(place);
    if (!at.visible) {
      clear();
      return;
    }
    if (!drawnKey.startsWith(what)) clear();
    const viewDirection = stage.pointerRay(at.x, at.y).ray.direction.clone();
    const middle = stage.pointerRay(stage.canvas.clientWidth / 2, stage.canvas.clientHeight / 2).ray;
    const depth = vector(place).sub(middle.origin).dot(middle.direction);
    // metres per px
    const metre = (depth * 2 * Math.tan((26 * Math.PI) / 360)) / Math.max(1, stage.canvas.clientHeight);
    const digits = (values: readonly number[], count: number): string =>
      values.map((value) => value.toFixed(count)).join();
    const key = [
      what,
      digits(place, 4),
      digits(turn, 3),
      digits([at.x, at.y], 1),
      digits(viewDirection.toArray(), 4),
      metre.toPrecision(4),
    ].join(" ");
    if (key === drawnKey) return;
    drawnKey = key;
    const out = (v: Vector3, pixels: number): { x: number; y: number } =>
      stage.project(triple(vector(place).addScaledVector(v, pixels * metre)));
    if (what === "move") drawArrows(at, out);
    else if (what === "turn") drawRings(turn, viewDirection, out);
    else drawTimeHandles(at);
  }

  function drawArrows(
    at: { x: number; y: number },
    out: (v: Vector3, pixels: number) => { x: number; y: number },
  ): void {
    for (const name of ["x", "y", "z"] as const) {
      const axis = AXES[name];
      const tip = out(axis, ARROW_PX);
      const length = Math.hypot(tip.x - at.x, tip.y - at.y);
      const element = handle(name, name, () => ({ operation: "move", axis }));
      element.classList.toggle("hidden", length < CLEARANCE_PX + 10); // an axis towards the camera cannot be dragged
      const [ux, uy] = [(tip.x - at.x) / (length || 1), (tip.y - at.y) / (length || 1)];
      const from = { x: at.x + CLEARANCE_PX * ux, y: at.y + CLEARANCE_PX * uy };
      draw(element, `M${from.x} ${from.y}L${tip.x} ${tip.y}${arrowHead(tip.x, tip.y, ux, uy, 8, 4)}`, "", {
        x: at.x + (tip.x - at.x) * 1.16,
        y: at.y + (tip.y - at.y) * 1.16,
        said: NAMES[name],
      });
    }
  }

  function drawRings(
    turn: readonly number[],
    looks: Vector3,
    out: (v: Vector3, pixels: number) => { x: number; y: number },
  ): void {
    const local = new Quaternion(turn[0], turn[1], turn[2], turn[3]);
    for (const name of ["x", "y", "z"] as const) {
      const axis = AXES[name].clone().applyQuaternion(local);
      const { front, back } = ringPaths(axis, looks, (v) => out(v, RING_RADIUS_PX));
      draw(
        handle(name, name, () => ({ operation: "turn", axis: AXES[name].clone().applyQuaternion(local) })),
        front,
        back,
      );
    }
    const round = ringPaths(looks, new Vector3(), (v) => out(v, RING_RADIUS_PX + 12));
    draw(
      handle("view", "view", () => ({ operation: "turn" })),
      round.front,
    );
  }

  /** Two arrows along the curve, away from the point: dragging outwards makes the motion faster, inwards slower. */
  function drawTimeHandles(at: { x: number; y: number }): void {
    const screen = view.active === null ? null : layer.screenPath(view.active);
    const times = layer.paths?.times;
    if (!screen || !times) return;
    const { frame } = frameOf(times, store.time);
    const [a, b] = [Math.max(0, frame - 2), Math.min(times.length - 1, frame + 3)];
    const [dx, dy] = [screen[3 * b] - screen[3 * a], screen[3 * b + 1] - screen[3 * a + 1]];
    const length = Math.hypot(dx, dy);
    const [ux, uy] = length > 1 ? [dx / length, dy / length] : [1, 0];
    for (const [name, sign] of [
      ["earlier", -1],
      ["later", 1],
    ] as const) {
      const [x, y, ex, ey] = [
        at.x + sign * TIME_HANDLE_PX * ux,
        at.y + sign * TIME_HANDLE_PX * uy,
        sign * ux,
        sign * uy,
      ];
      const shaft = `M${at.x + 10 * ex} ${at.y + 10 * ey}L${x} ${y}`;
      const bar = `M${x + 5 * ex - 7 * ey} ${y + 5 * ey + 7 * ex}L${x + 5 * ex + 7 * ey} ${y + 5 * ey - 7 * ex}`;
      draw(
        handle(name, "time", () => ({ operation: "time", faster: { x: ex, y: ey } })),
        shaft + arrowHead(x, y, ex, ey, 7, 6) + bar,
      );
    }
  }

  stage.onDrawn(update);
  view.onChange(update);
  drags.onChange(update);
  return {
    get awake() {
      return awake;
    },
    set awake(next) {
      awake = next;
      update();
    },
  };
}

/** The SVG path of an arrow head with its tip at (x, y) and the direction (ux, uy); sizes in px. */
function arrowHead(x: number, y: number, ux: number, uy: number, length: number, half: number): string {
  const [backX, backY] = [x - length * ux, y - length * uy];
  return `M${backX - half * uy} ${backY + half * ux}L${x} ${y}L${backX + half * uy} ${backY - half * ux}`;
}
