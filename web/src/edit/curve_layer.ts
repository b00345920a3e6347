/** All motion curves on stage, with their keys, what is held, and what lies under the pointer. */
import { DoubleSide, Group, Mesh, MeshBasicMaterial, RingGeometry } from "three";
import type { Context } from "../context";
import { frameHeader } from "../protocol/frame";
import { type EditState, FRAME, type PointRef, type ShownCurve } from "../protocol/messages";
import { nearestOn, type Triple } from "./geometry";
import { type Spot, Spots } from "./glyphs";
import { followed, frameNear, type MotionCurve, type Paths, placeAt, readPaths, turnAt } from "./paths";
import { Ribbon } from "./ribbon";
import { AMBER, LIGHT } from "./screen_shapes";
import type { EditSession } from "./session";
import { type EditView, samePoint } from "./view";

const REACH = 9; // px around a curve that still hit it
const KEY_REACH = 7; // px around a key

/** A place on a curve under the pointer. */
export interface OnCurve {
  curve: number;
  time: number;
  place: Triple;
  key: number | null; // the time of a key that lies there too
}

export interface CurveLayer {
  readonly paths: Paths | null;
  /** The curve that is shown of a point. */
  curveOf(point: PointRef): ShownCurve | undefined;
  shown(curve: number): ShownCurve | undefined;
  place(curve: number, time: number): Triple | null;
  turn(curve: number, time: number): [number, number, number, number] | null;
  /** Where a curve is on the canvas, x and y in CSS px for each frame and a depth. */
  screen(curve: number): Float32Array | null;
  /** Keys of a curve, seconds. */
  keys(curve: number): Float32Array;
  /** What is held of a point, other than the curve itself. */
  held(point: PointRef): boolean;
  hit(x: number, y: number): OnCurve | null;
  /** Draws curves as a camera sees them that goes along with this point, whose own curve is not drawn then. */
  follow(point: PointRef | null): void;
  /** Spots that others lay over the curves: a goal, a ghost. */
  mark(spots: readonly Spot[]): void;
  /** Called when curves have changed. */
  onPaths(listener: () => void): void;
  awake: boolean;
}

export function createCurveLayer(
  { stage, store, connection }: Context,
  session: EditSession,
  view: EditView,
): CurveLayer {
  const group = new Group();
  const ribbons = new Map<number, Ribbon>();
  const keySpots = new Spots(0.45);
  const overSpots = new Spots(1);
  const rings = new Group();
  const listeners: (() => void)[] = [];
  let told: Paths | null = null; // as the server has them
  let paths: Paths | null = null; // as they are drawn
  let root: PointRef | null = null; // whose way the camera follows
  let marks: readonly Spot[] = [];
  let sequence: number | null = null; // of curves that were not drawn yet
  let awake = false;
  group.add(keySpots.group, overSpots.group, rings);

  const state = (): EditState | null => session.state;
  const shown = (curve: number): ShownCurve | undefined => state()?.curves.find((each) => each.curve === curve);
  const curveOf = (point: PointRef): ShownCurve | undefined =>
    state()?.curves.find((each) => samePoint(each.point, point));
  const held = (point: PointRef): boolean => {
    const now = state();
    return now ? [...now.pins, ...now.contacts, ...now.holds].some((each) => samePoint(each.point, point)) : false;
  };
  const pinned = (point: PointRef): boolean => state()?.pins.some((each) => samePoint(each.point, point)) ?? false;

  /** The curves as they are drawn: as they are, or as a camera sees them that goes along with the root. */
  function displace(): void {
    const entry = root && curveOf(root);
    const along = entry && told?.curves.get(entry.curve);
    paths = told;
    if (!paths || !along) return;
    const { times, curves } = paths;
    const all = [...curves.values()]
      .filter((curve) => curve !== along)
      .map((curve) => followed({ times, curves }, curve, along, store.time));
    paths = { times, curves: new Map(all.map((curve) => [curve.curve, curve])) };
  }

  function update(): void {
    displace();
    const found = paths;
    for (const [number, ribbon] of ribbons)
      if (!found?.curves.has(number)) {
        ribbon.dispose();
        group.remove(ribbon.group);
        ribbons.delete(number);
      }
    if (found)
      for (const [number, curve] of found.curves) {
        let ribbon = ribbons.get(number);
        if (!ribbon) {
          ribbon = new Ribbon();
          ribbons.set(number, ribbon);
          group.add(ribbon.group);
        }
        ribbon.set(found, curve);
      }
    look();
  }

  /** Everything but the shapes of the paths: colours, spots, rings. */
  function look(): void {
    const { display, active, hovered } = view;
    const now = store.time;
    const keys: Spot[] = [];
    const over: Spot[] = [...marks];
    for (const [number, ribbon] of ribbons) {
      const curve = paths?.curves.get(number);
      const entry = shown(number);
      if (!curve || !paths || !entry) continue;
      const isActive = number === active;
      const quiet = !isActive && pinned(entry.point);
      ribbon.look(
        { active: isActive, quiet, hovered: number === hovered, ...display, ticks: display.ticks && isActive },
        now,
      );
      if (!quiet && !state()?.baked) keys.push(...keySpotsOf(curve, isActive));
      over.push({
        place: placeAt(paths, curve, now),
        shape: isActive ? "ring" : "disc",
        size: isActive ? 13 : 7,
        colour: LIGHT,
        alpha: quiet ? 0.6 : 1,
      });
      if (pinned(entry.point))
        over.push({ place: placeAt(paths, curve, now), shape: "square", size: 12, colour: AMBER });
      for (const hold of state()?.holds ?? [])
        if (samePoint(hold.point, entry.point))
          over.push({ place: placeAt(paths, curve, hold.time), shape: "ring", size: 12, colour: AMBER });
    }
    keySpots.set(keys);
    overSpots.set(over);
    drawContacts(now);
    stage.requestRender();
  }

  /** Keys as diamonds, smaller where many lie close, so that the path stays to be seen. */
  function keySpotsOf(curve: MotionCurve, isActive: boolean): Spot[] {
    const at = stage.projectAll(curve.keyPlaces);
    const largest = isActive ? 13 : 9;
    return Array.from(curve.keyTimes, (_, k) => {
      const room = Math.min(
        ...[k - 1, k + 1].map((i) =>
          i < 0 || i >= curve.keyTimes.length
            ? Infinity
            : Math.hypot(at[3 * i] - at[3 * k], at[3 * i + 1] - at[3 * k + 1]),
        ),
      );
      return {
        place: curve.keyPlaces.subarray(3 * k, 3 * k + 3),
        shape: "diamond",
        size: Math.max(isActive ? 6 : 4, Math.min(largest, 0.7 * room)),
        colour: AMBER,
        alpha: isActive ? 1 : 0.7,
      };
    });
  }

  /**
   * Contacts lie on the ground below the place where the point stands: filled while they last, a ring at other times.
   */
  function drawContacts(now: number): void {
    for (const old of [...rings.children] as Mesh[]) {
      rings.remove(old);
      old.geometry.dispose();
      (old.material as MeshBasicMaterial).dispose();
    }
    const size = state()?.size ?? 1;
    for (const contact of state()?.contacts ?? []) {
      const entry = curveOf(contact.point);
      const curve = entry && paths?.curves.get(entry.curve);
      if (!curve || !paths) continue;
      const [x, , z] = placeAt(paths, curve, contact.start);
      const on = now >= contact.start - 1e-6 && now <= contact.stop + 1e-6;
      const colour = on ? "#f2a33a" : now < contact.start ? "#4cc9b0" : "#e0607e";
      const flat = (inner: number, outer: number, opacity: number): void => {
        const material = new MeshBasicMaterial({
          color: colour,
          transparent: true,
          opacity,
          side: DoubleSide,
          depthWrite: false,
          toneMapped: false,
        });
        const ring = new Mesh(new RingGeometry(inner * size, outer * size, 40), material);
        ring.rotation.x = -Math.PI / 2;
        ring.position.set(x, stage.floor + 0.002 * size, z);
        ring.renderOrder = 3;
        rings.add(ring);
      };
      flat(0.06, 0.075, on ? 0.95 : 0.6);
      if (on) flat(0, 0.06, 0.35);
    }
  }

  function hit(x: number, y: number): OnCurve | null {
    if (!paths) return null;
    let best: { score: number; curve: MotionCurve; time: number } | null = null;
    for (const curve of paths.curves.values()) {
      const bonus = curve.curve === view.active ? 4 : 0; // px: what is in hand comes first where curves cross
      const places = stage.projectAll(curve.positions);
      for (let f = 0; f + 1 < paths.times.length; f++) {
        const [a, b] = [3 * f, 3 * f + 3];
        if (places[a + 2] > 1 || places[b + 2] > 1) continue;
        const { distance, share } = nearestOn(x, y, places[a], places[a + 1], places[b], places[b + 1]);
        const score = distance - bonus;
        if (distance > REACH || (best && score >= best.score)) continue;
        best = { score, curve, time: paths.times[f] + share * (paths.times[f + 1] - paths.times[f]) };
      }
    }
    if (!best) return null;
    const { curve } = best;
    // frames are what is seen and written: a drag between two would show in neither
    const time = frameNear(paths.times, best.time);
    const keyed = stage.projectAll(curve.keyPlaces);
    const near = curve.keyTimes.findIndex((_, k) => Math.hypot(keyed[3 * k] - x, keyed[3 * k + 1] - y) < KEY_REACH);
    return {
      curve: curve.curve,
      time,
      place: placeAt(paths, curve, time),
      key: near < 0 ? null : curve.keyTimes[near],
    };
  }

  connection.onFrame((data) => {
    const header = frameHeader(data);
    if (header?.stream !== FRAME.pathsStream) return;
    sequence = header.sequence;
    const read = readPaths(data, told);
    if (read) {
      told = paths = read;
      if (awake) update();
      for (const listener of listeners) listener();
    }
    if (!awake || !read) acknowledge();
  });
  const acknowledge = (): void => {
    if (sequence === null) return;
    connection.tell({ kind: "seen", sequence, stream: FRAME.pathsStream });
    sequence = null;
  };
  let zoomed = 0; // metres: the distance of the camera that the sizes are for
  stage.onDrawn(() => {
    acknowledge();
    const { distance } = stage.view;
    if (!awake || !ribbons.size || Math.abs(distance / zoomed - 1) < 0.15) return;
    zoomed = distance;
    look();
  });
  session.onState((next) => {
    if (!next) told = null;
    if (awake) update();
  });
  store.onTime(() => awake && (root ? update() : look()));
  view.onChange(() => awake && look());

  return {
    get paths() {
      return paths;
    },
    curveOf,
    shown,
    held,
    place: (curve, time) => {
      const found = paths?.curves.get(curve);
      return found && paths ? placeAt(paths, found, time) : null;
    },
    turn: (curve, time) => {
      const found = paths?.curves.get(curve);
      return found && paths ? turnAt(paths, found, time) : null;
    },
    screen: (curve) => {
      const found = paths?.curves.get(curve);
      return found ? stage.projectAll(found.positions) : null;
    },
    keys: (curve) => paths?.curves.get(curve)?.keyTimes ?? new Float32Array(),
    hit,
    follow(point) {
      root = point;
      if (awake) update();
    },
    mark(spots) {
      marks = spots;
      if (awake && !stage.hurried) look(); // else with the paths that come at once
    },
    onPaths: (listener) => void listeners.push(listener),
    get awake() {
      return awake;
    },
    set awake(next) {
      awake = next;
      if (next) {
        stage.add(group);
        update();
      } else stage.remove(group);
    },
  };
}
