/** The motion curves on stage, with their keys and constraints, and hit tests for the pointer. */
import { DoubleSide, Group, Mesh, MeshBasicMaterial, RingGeometry } from "three";
import type { Context } from "../context";
import { frameHeader } from "../protocol/frame";
import { type EditState, FRAME, type MotionCurveEntry, type PointRef } from "../protocol/messages";
import { nearestOnSegment, type Triple } from "./geometry";
import { type Glyph, Glyphs } from "./glyphs";
import {
  type MotionCurve,
  nearestFrameTime,
  type Paths,
  positionAt,
  readPaths,
  relativeToRoot,
  rotationAt,
} from "./paths";
import { Ribbon } from "./ribbon";
import { AMBER, LIGHT } from "./screen_shapes";
import type { EditSession } from "./session";
import { type EditView, type Reach, samePoint } from "./view";

const CURVE_HIT_RADIUS_PX = 9;
const KEY_HIT_RADIUS_PX = 7;

/** A point of a curve under the pointer. */
export interface CurveHit {
  curve: number;
  time: number;
  place: Triple;
  key: number | null; // the time of a key at this point
}

export interface CurveLayer {
  readonly paths: Paths | null;
  /** The shown curve of a point. */
  curveOf(point: PointRef): MotionCurveEntry | undefined;
  curveEntry(curve: number): MotionCurveEntry | undefined;
  place(curve: number, time: number): Triple | null;
  rotation(curve: number, time: number): [number, number, number, number] | null;
  /** The curve on the canvas: x and y in CSS px and a depth for each frame. */
  screenPath(curve: number): Float32Array | null;
  /** The key times of a curve, seconds. */
  keys(curve: number): Float32Array;
  /** Whether a point has a pin, a contact or a hold. */
  isHeld(point: PointRef): boolean;
  hit(x: number, y: number): CurveHit | null;
  /**
   * Draws the curves relative to this point, as a camera that follows it would see them; its own curve is hidden then.
   */
  followPoint(point: PointRef | null): void;
  /** Sets additional glyphs: a goal, a ghost. */
  setOverlay(glyphs: readonly Glyph[]): void;
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
  const keyGlyphs = new Glyphs(0.45);
  const overlayGlyphs = new Glyphs(1);
  const rings = new Group();
  const listeners: (() => void)[] = [];
  let received: Paths | null = null; // as the server sent them
  let paths: Paths | null = null; // as they are drawn
  let root: PointRef | null = null; // the point that the camera follows
  let marks: readonly Glyph[] = [];
  let sequence: number | null = null; // of curves that were not drawn yet
  let awake = false;
  group.add(keyGlyphs.group, overlayGlyphs.group, rings);

  const state = (): EditState | null => session.state;
  const curveEntry = (curve: number): MotionCurveEntry | undefined =>
    state()?.curves.find((entry) => entry.curve === curve);
  const curveOf = (point: PointRef): MotionCurveEntry | undefined =>
    state()?.curves.find((entry) => samePoint(entry.point, point));
  const isHeld = (point: PointRef): boolean => {
    const now = state();
    return now
      ? [...now.pins, ...now.contacts, ...now.holds].some((constraint) => samePoint(constraint.point, point))
      : false;
  };
  const isPinned = (point: PointRef): boolean => state()?.pins.some((pin) => samePoint(pin.point, point)) ?? false;

  /** Updates the drawn curves: as received, or relative to the followed point. */
  function updatePaths(): void {
    const entry = root && curveOf(root);
    const along = entry && received?.curves.get(entry.curve);
    paths = received;
    if (!paths || !along) return;
    const { times, curves } = paths;
    const all = [...curves.values()]
      .filter((curve) => curve !== along)
      .map((curve) => relativeToRoot({ times, curves }, curve, along, store.time));
    paths = { times, curves: new Map(all.map((curve) => [curve.curve, curve])) };
  }

  function update(): void {
    updatePaths();
    const drawnPaths = paths;
    for (const [number, ribbon] of ribbons)
      if (!drawnPaths?.curves.has(number)) {
        ribbon.dispose();
        group.remove(ribbon.group);
        ribbons.delete(number);
      }
    if (drawnPaths)
      for (const [number, curve] of drawnPaths.curves) {
        let ribbon = ribbons.get(number);
        if (!ribbon) {
          ribbon = new Ribbon();
          ribbons.set(number, ribbon);
          group.add(ribbon.group);
        }
        ribbon.set(drawnPaths, curve);
      }
    updateLook();
  }

  /** Updates everything except the shapes of the curves: colours, glyphs, rings. */
  function updateLook(): void {
    const { display, active, hovered, reach } = view;
    const now = store.time;
    const keys: Glyph[] = [];
    const over: Glyph[] = [...marks];
    for (const [number, ribbon] of ribbons) {
      const curve = paths?.curves.get(number);
      const entry = curveEntry(number);
      if (!curve || !paths || !entry) continue;
      const isActive = number === active;
      const quiet = !isActive && isPinned(entry.point);
      ribbon.look(
        {
          active: isActive,
          quiet,
          hovered: number === hovered,
          ...display,
          ticks: display.ticks && isActive,
          window: reach && isActive ? (reach.stop - reach.start) / 2 + reach.radius : display.window,
        },
        now,
      );
      if (reach && isActive) over.push(...reachGlyphs(paths, curve, reach));
      if (!quiet && !state()?.baked) keys.push(...keyGlyphsOf(curve, isActive));
      over.push({
        place: positionAt(paths, curve, now),
        shape: isActive ? "ring" : "disc",
        size: isActive ? 13 : 7,
        colour: LIGHT,
        alpha: quiet ? 0.6 : 1,
      });
      if (isPinned(entry.point))
        over.push({ place: positionAt(paths, curve, now), shape: "square", size: 12, colour: AMBER });
      for (const hold of state()?.holds ?? [])
        if (samePoint(hold.point, entry.point))
          over.push({ place: positionAt(paths, curve, hold.time), shape: "ring", size: 12, colour: AMBER });
    }
    keyGlyphs.set(keys);
    overlayGlyphs.set(over);
    drawContacts(now);
    stage.requestRender();
  }

  /** The ends of the window of a drag or stroke as crosses on its curve, within the clip. */
  function reachGlyphs(drawn: Paths, curve: MotionCurve, { start, stop, radius }: Reach): Glyph[] {
    const last = drawn.times[drawn.times.length - 1] ?? 0;
    return [start - radius, stop + radius]
      .filter((time) => time > 0 && time < last)
      .map((time) => ({ place: positionAt(drawn, curve, time), shape: "cross", size: 11, colour: AMBER }));
  }

  /** Keys as diamonds, smaller if they are close together, so that the curve stays visible. */
  function keyGlyphsOf(curve: MotionCurve, isActive: boolean): Glyph[] {
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

  /** Draws contacts on the ground below their points: filled while they are active, else as a ring. */
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
      const [x, , z] = positionAt(paths, curve, contact.start);
      const on = now >= contact.start - 1e-6 && now <= contact.stop + 1e-6;
      const colour = on ? "#f2a33a" : now < contact.start ? "#4cc9b0" : "#e0607e";
      const addRing = (inner: number, outer: number, opacity: number): void => {
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
      addRing(0.06, 0.075, on ? 0.95 : 0.6);
      if (on) addRing(0, 0.06, 0.35);
    }
  }

  function hit(x: number, y: number): CurveHit | null {
    if (!paths) return null;
    let best: { score: number; curve: MotionCurve; time: number } | null = null;
    for (const curve of paths.curves.values()) {
      const bonus = curve.curve === view.active ? 4 : 0; // px; the active curve wins where curves cross
      const places = stage.projectAll(curve.positions);
      for (let f = 0; f + 1 < paths.times.length; f++) {
        const [a, b] = [3 * f, 3 * f + 3];
        if (places[a + 2] > 1 || places[b + 2] > 1) continue;
        const { distance, share } = nearestOnSegment(x, y, places[a], places[a + 1], places[b], places[b + 1]);
        const score = distance - bonus;
        if (distance > CURVE_HIT_RADIUS_PX || (best && score >= best.score)) continue;
        best = { score, curve, time: paths.times[f] + share * (paths.times[f + 1] - paths.times[f]) };
      }
    }
    if (!best) return null;
    const { curve } = best;
    // Snap to frames: a drag between two frames would be visible in neither.
    const time = nearestFrameTime(paths.times, best.time);
    const keyPixels = stage.projectAll(curve.keyPlaces);
    const near = curve.keyTimes.findIndex(
      (_, k) => Math.hypot(keyPixels[3 * k] - x, keyPixels[3 * k + 1] - y) < KEY_HIT_RADIUS_PX,
    );
    return {
      curve: curve.curve,
      time,
      place: positionAt(paths, curve, time),
      key: near < 0 ? null : curve.keyTimes[near],
    };
  }

  connection.onFrame((data) => {
    const header = frameHeader(data);
    if (header?.stream !== FRAME.pathsStream) return;
    sequence = header.sequence;
    const read = readPaths(data, received);
    if (read) {
      received = paths = read;
      if (awake) update();
      for (const listener of listeners) listener();
    }
    if (!awake || !read) acknowledge();
  });
  const acknowledge = (): void => {
    if (sequence === null) return;
    connection.send({ kind: "seen", sequence, stream: FRAME.pathsStream });
    sequence = null;
  };
  let drawnDistance = 0; // metres, the camera distance that the glyph sizes are made for
  stage.onDrawn(() => {
    acknowledge();
    const { distance } = stage.view;
    if (!awake || !ribbons.size || Math.abs(distance / drawnDistance - 1) < 0.15) return;
    drawnDistance = distance;
    updateLook();
  });
  session.onState((next) => {
    if (!next) received = null;
    if (awake) update();
  });
  store.onTime(() => awake && (root ? update() : updateLook()));
  view.onChange(() => awake && updateLook());

  return {
    get paths() {
      return paths;
    },
    curveOf,
    curveEntry: curveEntry,
    isHeld: isHeld,
    place: (curve, time) => {
      const motion = paths?.curves.get(curve);
      return motion && paths ? positionAt(paths, motion, time) : null;
    },
    rotation: (curve, time) => {
      const motion = paths?.curves.get(curve);
      return motion && paths ? rotationAt(paths, motion, time) : null;
    },
    screenPath: (curve) => {
      const motion = paths?.curves.get(curve);
      return motion ? stage.projectAll(motion.positions) : null;
    },
    keys: (curve) => paths?.curves.get(curve)?.keyTimes ?? new Float32Array(),
    hit,
    followPoint(point) {
      root = point;
      if (awake) update();
    },
    setOverlay(glyphs) {
      marks = glyphs;
      if (awake && !stage.isInteracting) updateLook(); // else it is updated with the curves of the next answer
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
