/** One motion curve on stage: its path, a dot for each frame, and ticks for the orientation. */
import {
  Group,
  InstancedBufferAttribute,
  InstancedInterleavedBuffer,
  InterleavedBufferAttribute,
  type Mesh,
} from "three";
import { type MotionCurve, type Paths, relativeSpeeds, smoothPath } from "./paths";
import { disposeMeshes, FUTURE, makeLayeredMeshes, PAST, quads, SCREEN, type Uniforms } from "./screen_shapes";

const ROW_FLOATS = 5; // position, time, speed
const TICK_PX = 15; // length of a tick
const MAX_PIECES = 240; // few frames are interpolated, many are smooth already

export interface RibbonLook {
  active: boolean; // the active curve
  quiet: boolean; // shown only because of a constraint
  hovered: boolean;
  speed: boolean; // as lightness
  dots: boolean;
  ticks: boolean;
  window: number; // seconds around the current time with full opacity
}

/** A dark rim, in px, separates a curve from what it crosses. */
const RIM = "const float RIM = 1.2;";

/**
 * Colour and opacity at a time: rose before the current time, teal after it; paler when fast, fainter far away in time.
 */
const TONE = /* glsl */ `
uniform vec3 past, future;
uniform float now, window, strength, speedy, seen, hidden;
vec4 toneOf(float time, float speed) {
  vec3 tone = time < now ? past : future;
  vec3 shown = speed < 0.5 ? mix(0.5 * tone, tone, 2.0 * speed) : mix(tone, vec3(1.0), 0.9 * (speed - 0.5));
  float far = (time - now) / window;
  float alpha = strength * mix(0.28, 1.0, exp(-far * far)) * mix(hidden, 1.0, seen);
  return vec4(mix(tone, shown, speedy), alpha);
}
`;

const PATH_VERTEX = /* glsl */ `${SCREEN}${RIM}
uniform float width;
in vec2 corner, fromMore, toMore;
in vec3 from, to;
out float time, speed, side;
void main() {
  vec4 a = clipOf(from), b = clipOf(to);
  time = mix(fromMore.x, toMore.x, corner.x);
  speed = mix(fromMore.y, toMore.y, corner.x);
  vec2 way = pixelsOf(b) - pixelsOf(a);
  vec2 along = length(way) > 1e-3 ? normalize(way) : vec2(1.0, 0.0);
  float wide = 0.5 * ratio * width + RIM * ratio + 0.75;
  side = corner.y * wide;
  vec2 shift = vec2(-along.y, along.x) * side + along * (corner.x - 0.5) * 0.4 * wide;
  gl_Position = min(a.w, b.w) <= 0.0 ? NOWHERE : moved(corner.x < 0.5 ? a : b, shift);
}`;
const PATH_FRAGMENT = /* glsl */ `
precision highp float;
uniform float width, ratio;
in float time, speed, side;
out vec4 painted;
${RIM}${TONE}
void main() {
  painted = toneOf(time, speed);
  float inside = clamp(0.5 * ratio * width + 0.5 - abs(side), 0.0, 1.0);
  float rim = clamp((0.5 * width + RIM) * ratio + 0.5 - abs(side), 0.0, 1.0);
  painted = vec4(mix(vec3(0.07), painted.rgb, inside), painted.a * max(inside, 0.6 * rim));
}`;

/** Dots are scaled to the distance between frames; where it is small only the path is drawn. */
const DOT_VERTEX = /* glsl */ `${SCREEN}
uniform float size;
in vec2 corner, fromMore, toMore;
in vec3 from, to;
out float time, speed, radius;
out vec2 at;
void main() {
  vec4 a = clipOf(from), b = clipOf(to);
  time = fromMore.x;
  speed = fromMore.y;
  float room = distance(pixelsOf(a), pixelsOf(b)) / ratio;
  radius = 0.5 * ratio * size * clamp(room / 5.0, 0.0, 1.0);
  at = corner * (radius + 1.0);
  gl_Position = min(a.w, b.w) <= 0.0 || room < 2.0 ? NOWHERE : moved(a, at);
}`;
const DOT_FRAGMENT = /* glsl */ `
precision highp float;
in float time, speed, radius;
in vec2 at;
out vec4 painted;
${TONE}
void main() {
  painted = toneOf(time, speed);
  painted.rgb = mix(painted.rgb, vec3(1.0), 0.25);
  painted.a *= clamp(radius + 0.5 - length(at), 0.0, 1.0);
}`;

const TICK_VERTEX = /* glsl */ `${SCREEN}
uniform float size;
in vec2 corner;
in vec3 place, axis;
in float moment;
out float time, speed, side;
void main() {
  vec4 a = clipOf(place);
  float metres = ratio * size * a.w / (0.5 * picture.y * projectionMatrix[1][1]);
  vec4 b = clipOf(place + metres * axis);
  time = moment;
  speed = 0.6;
  vec2 way = pixelsOf(b) - pixelsOf(a);
  vec2 along = length(way) > 1e-3 ? normalize(way) : vec2(1.0, 0.0);
  side = corner.y * 1.25 * ratio;
  gl_Position = min(a.w, b.w) <= 0.0 ? NOWHERE : moved(corner.x < 0.5 ? a : b, vec2(-along.y, along.x) * side);
}`;
const TICK_FRAGMENT = /* glsl */ `
precision highp float;
uniform float ratio;
in float time, speed, side;
out vec4 painted;
${TONE}
void main() {
  painted = toneOf(time, speed);
  painted.a *= 0.75 * clamp(0.5 * ratio + 0.5 - abs(side), 0.0, 1.0);
}`;

/** The y axis of a rotation, which mostly is the axis of the bone. */
export function boneAxis(turns: Float32Array, frame: number): [number, number, number] {
  const [x, y, z, w] = turns.subarray(4 * frame, 4 * frame + 4);
  return [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)];
}

export class Ribbon {
  readonly group = new Group();
  private readonly tone: Uniforms = {
    past: { value: PAST },
    future: { value: FUTURE },
    now: { value: 0 },
    window: { value: 1 },
    strength: { value: 1 },
    speedy: { value: 1 },
    hidden: { value: 0.4 },
  };
  private readonly width = { value: 2 };
  private readonly dotSize = { value: 4 };
  private readonly path = quads(0);
  private readonly dots = quads(-1);
  private readonly ticks = quads(0);
  private readonly meshes: Mesh[];
  private readonly rows = new Map<typeof this.path, InstancedInterleavedBuffer>();

  constructor() {
    const path = makeLayeredMeshes(this.path, { ...this.tone, width: this.width }, PATH_VERTEX, PATH_FRAGMENT, 10);
    const dots = makeLayeredMeshes(this.dots, { ...this.tone, size: this.dotSize }, DOT_VERTEX, DOT_FRAGMENT, 12);
    const ticks = makeLayeredMeshes(
      this.ticks,
      { ...this.tone, size: { value: TICK_PX } },
      TICK_VERTEX,
      TICK_FRAGMENT,
      11,
    );
    this.meshes = [...path.meshes, ...dots.meshes, ...ticks.meshes];
    this.group.add(...this.meshes);
  }

  /** Sets the curve. */
  set(paths: Paths, curve: MotionCurve): void {
    const frames = paths.times.length;
    const speeds = relativeSpeeds(curve.positions, paths.times);
    const rows = new Float32Array(ROW_FLOATS * frames);
    for (let f = 0; f < frames; f++) {
      rows.set(curve.positions.subarray(3 * f, 3 * f + 3), ROW_FLOATS * f);
      rows[ROW_FLOATS * f + 3] = paths.times[f];
      rows[ROW_FLOATS * f + 4] = speeds[f];
    }
    this.fill(this.dots, rows);
    this.fill(this.path, smoothPath(rows, ROW_FLOATS, Math.max(1, Math.min(6, Math.floor(MAX_PIECES / frames)))));
    this.setTicks(paths, curve);
  }

  look(look: RibbonLook, now: number): void {
    const { active, quiet, hovered } = look;
    this.tone.now.value = now;
    this.tone.window.value = look.window;
    this.tone.strength.value = active || hovered ? 1 : quiet ? 0.35 : 0.75;
    this.tone.hidden.value = active ? 0.85 : 0.45;
    this.tone.speedy.value = look.speed && !quiet ? 1 : 0;
    this.width.value = active ? 2.6 : hovered ? 2.2 : quiet ? 1 : 1.5;
    this.dotSize.value = active ? 5.5 : 4;
    this.meshes[2].visible = this.meshes[3].visible = look.dots && !quiet;
    this.meshes[4].visible = this.meshes[5].visible = look.ticks && !quiet;
  }

  dispose(): void {
    disposeMeshes(this.meshes);
  }

  private fill(geometry: typeof this.path, values: Float32Array): void {
    let rows = this.rows.get(geometry);
    if (rows?.array.length !== values.length) {
      rows = new InstancedInterleavedBuffer(new Float32Array(values.length), ROW_FLOATS, 1);
      this.rows.set(geometry, rows);
      geometry.dispose(); // also frees the old buffers
      geometry.setAttribute("from", new InterleavedBufferAttribute(rows, 3, 0));
      geometry.setAttribute("fromMore", new InterleavedBufferAttribute(rows, 2, 3));
      geometry.setAttribute("to", new InterleavedBufferAttribute(rows, 3, ROW_FLOATS)); // from the next row
      geometry.setAttribute("toMore", new InterleavedBufferAttribute(rows, 2, ROW_FLOATS + 3));
    }
    (rows.array as Float32Array).set(values);
    rows.needsUpdate = true;
    geometry.instanceCount = Math.max(0, values.length / ROW_FLOATS - 1);
  }

  private setTicks(paths: Paths, curve: MotionCurve): void {
    const frames = paths.times.length;
    if (this.ticks.getAttribute("moment")?.count !== frames) {
      this.ticks.dispose();
      for (const [name, width] of [
        ["place", 3],
        ["axis", 3],
        ["moment", 1],
      ] as const)
        this.ticks.setAttribute(name, new InstancedBufferAttribute(new Float32Array(width * frames), width));
    }
    const values = (name: string): InstancedBufferAttribute =>
      this.ticks.getAttribute(name) as InstancedBufferAttribute;
    (values("place").array as Float32Array).set(curve.positions);
    (values("moment").array as Float32Array).set(paths.times);
    const axes = values("axis").array as Float32Array;
    for (let f = 0; f < frames; f++) axes.set(boneAxis(curve.turns, f), 3 * f);
    for (const name of ["place", "axis", "moment"]) values(name).needsUpdate = true;
    this.ticks.instanceCount = frames;
  }
}
