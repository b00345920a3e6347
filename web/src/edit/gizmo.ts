/**
 * Handles at the point in hand: axes to move it along, rings to turn it, a pair of arrows along the path for its
 * timing.
 */
import { Quaternion, Vector3 } from "three";
import type { Context } from "../context";
import type { CurveLayer } from "./curve_layer";
import type { Gestures, Grip, Operation } from "./drag";
import { AXES, type Axis, triple, vector } from "./geometry";
import { frameOf } from "./paths";
import type { EditView } from "./view";

const SVG = "http://www.w3.org/2000/svg";
const ARROW = 56; // px
const CLEAR = 16; // px around the point that are the path's own
const RING = 58; // px, its radius
const TIMING = 34; // px from the point to an arrow of the timing handle
const STEPS = 48; // pieces of a ring
const NAMES: Record<Axis, string> = { x: "X", y: "Y", z: "Z" };

type Take = (event: PointerEvent, grip: Partial<Grip> & { operation: Operation }) => void;

/** An element of a picture, with attributes. */
export function svg(tag: string, attributes: Record<string, string | number>, ...children: SVGElement[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * The front and the back of a ring about an axis, as paths of a picture: `place` gives pixels, `view` looks into it.
 */
export function ringPaths(
  axis: Vector3,
  view: Vector3,
  place: (v: Vector3) => { x: number; y: number },
): { front: string; back: string } {
  const u = new Vector3(...(Math.abs(axis.x) < 0.9 ? [1, 0, 0] : [0, 1, 0])).cross(axis).normalize();
  const v = axis.clone().cross(u);
  const parts = { front: "", back: "" };
  let side: keyof typeof parts | null = null;
  for (let i = 0; i <= STEPS; i++) {
    const t = (2 * Math.PI * i) / STEPS;
    const out = u.clone().multiplyScalar(Math.cos(t)).addScaledVector(v, Math.sin(t));
    const now = out.dot(view) > 1e-3 ? "back" : "front";
    const { x, y } = place(out);
    const here = `${x.toFixed(1)} ${y.toFixed(1)}`;
    if (side !== null && side !== now) parts[side] += `L${here}`;
    parts[now] += `${side === now ? "L" : "M"}${here}`;
    side = now;
  }
  return parts;
}

export function createGizmo(
  { stage, store }: Context,
  host: HTMLElement,
  layer: CurveLayer,
  view: EditView,
  gestures: Gestures,
  ready: () => boolean,
  take: () => Take,
): { awake: boolean } {
  const root = svg("svg", { class: "edit-gizmo", "aria-hidden": "true" }) as SVGSVGElement;
  host.append(root);
  let awake = false;
  let drawn = "";
  let handles = new Map<string, SVGElement>();

  const handle = (name: string, kind: string, grip: () => Partial<Grip> & { operation: Operation }): SVGElement => {
    const found = handles.get(name);
    if (found) return found;
    const element = svg(
      "g",
      { class: `handle-${kind}`, "data-handle": name },
      svg("path", { class: "reach" }),
      svg("path", { class: "line" }),
      svg("path", { class: "back" }),
      svg("text", {}),
    );
    element.addEventListener("pointerdown", (event) => take()(event as PointerEvent, grip()));
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
    if (drawn === "") return;
    root.replaceChildren();
    handles = new Map();
    drawn = "";
  }

  function update(): void {
    const what = view.tool === "sketch" ? "" : view.tool;
    if (!awake || gestures.going) {
      clear();
      return;
    }
    const place = view.active === null ? null : layer.place(view.active, store.time);
    const turn = view.active === null ? null : layer.turn(view.active, store.time);
    if (!what || !ready() || !place || !turn || store.document?.stage.playing || (view.posing && what === "time")) {
      clear();
      return;
    }
    const at = stage.project(place);
    if (!at.visible) {
      clear();
      return;
    }
    if (!drawn.startsWith(what)) clear();
    const looks = stage.pointerRay(at.x, at.y).ray.direction.clone();
    const middle = stage.pointerRay(stage.canvas.clientWidth / 2, stage.canvas.clientHeight / 2).ray;
    const depth = vector(place).sub(middle.origin).dot(middle.direction);
    const metre = (depth * 2 * Math.tan((26 * Math.PI) / 360)) / Math.max(1, stage.canvas.clientHeight); // m a px
    const digits = (values: readonly number[], count: number): string =>
      values.map((value) => value.toFixed(count)).join();
    const key = [
      what,
      digits(place, 4),
      digits(turn, 3),
      digits([at.x, at.y], 1),
      digits(looks.toArray(), 4),
      metre.toPrecision(4),
    ].join(" ");
    if (key === drawn) return;
    drawn = key;
    const out = (v: Vector3, pixels: number): { x: number; y: number } =>
      stage.project(triple(vector(place).addScaledVector(v, pixels * metre)));
    if (what === "move") arrows(at, out);
    else if (what === "turn") rings(turn, looks, out);
    else timing(at);
  }

  function arrows(at: { x: number; y: number }, out: (v: Vector3, pixels: number) => { x: number; y: number }): void {
    for (const name of ["x", "y", "z"] as const) {
      const axis = AXES[name];
      const tip = out(axis, ARROW);
      const length = Math.hypot(tip.x - at.x, tip.y - at.y);
      const element = handle(name, name, () => ({ operation: "move", axis }));
      element.classList.toggle("hidden", length < CLEAR + 10); // an axis towards the eye cannot be pulled along
      const [ux, uy] = [(tip.x - at.x) / (length || 1), (tip.y - at.y) / (length || 1)];
      const from = { x: at.x + CLEAR * ux, y: at.y + CLEAR * uy };
      draw(element, `M${from.x} ${from.y}L${tip.x} ${tip.y}${arrowHead(tip.x, tip.y, ux, uy, 8, 4)}`, "", {
        x: at.x + (tip.x - at.x) * 1.16,
        y: at.y + (tip.y - at.y) * 1.16,
        said: NAMES[name],
      });
    }
  }

  function rings(
    turn: readonly number[],
    looks: Vector3,
    out: (v: Vector3, pixels: number) => { x: number; y: number },
  ): void {
    const local = new Quaternion(turn[0], turn[1], turn[2], turn[3]);
    for (const name of ["x", "y", "z"] as const) {
      const axis = AXES[name].clone().applyQuaternion(local);
      const { front, back } = ringPaths(axis, looks, (v) => out(v, RING));
      draw(
        handle(name, name, () => ({ operation: "turn", axis: AXES[name].clone().applyQuaternion(local) })),
        front,
        back,
      );
    }
    const round = ringPaths(looks, new Vector3(), (v) => out(v, RING + 12));
    draw(
      handle("view", "view", () => ({ operation: "turn" })),
      round.front,
    );
  }

  /** Two arrows along the path, away from the point: pulled apart the frames spread, pushed together they gather. */
  function timing(at: { x: number; y: number }): void {
    const screen = view.active === null ? null : layer.screen(view.active);
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
      const [x, y, ex, ey] = [at.x + sign * TIMING * ux, at.y + sign * TIMING * uy, sign * ux, sign * uy];
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
  gestures.onChange(update);
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
