/** Glyphs of a fixed size in pixels: keys, the current time, constraints, ghosts and goals. */
import { type Color, Group, InstancedBufferAttribute, type Mesh } from "three";
import { DARK, disposeMeshes, makeLayeredMeshes, quads, SCREEN } from "./screen_shapes";

export const SHAPES = { disc: 0, diamond: 1, ring: 2, square: 3, cross: 4, dashes: 5 } as const;

export interface Glyph {
  place: ArrayLike<number>; // three numbers, metres
  shape: keyof typeof SHAPES;
  size: number; // px across
  colour: Color;
  alpha?: number;
}

const VERTEX = /* glsl */ `${SCREEN}
in vec2 corner;
in vec3 place;
in vec4 tint;
in vec2 form;  // size in px, shape
out vec4 shade;
out vec2 at;
out float radius;
flat out int shape;
void main() {
  vec4 p = clipOf(place);
  radius = 0.5 * ratio * form.x;
  at = corner * (radius + 2.0 * ratio);
  shade = tint;
  shape = int(form.y + 0.5);
  gl_Position = p.w <= 0.0 ? NOWHERE : moved(p, at);
}`;

/** Each glyph by its signed distance, negative inside; a dark rim separates it from the background. */
const FRAGMENT = /* glsl */ `
precision highp float;
uniform float ratio, seen, hidden;
uniform vec3 dark;
in vec4 shade;
in vec2 at;
in float radius;
flat in int shape;
out vec4 painted;
void main() {
  vec2 p = abs(at);
  float round_ = length(at) - radius;
  float d = round_;
  if (shape == 1) d = 0.7071 * (p.x + p.y - radius);
  else if (shape == 2) d = abs(round_ + 1.2 * ratio) - 1.2 * ratio;
  else if (shape == 3) d = max(p.x, p.y) - 0.8 * radius;
  else if (shape == 4) {
    vec2 q = 0.7071 * vec2(abs(at.x + at.y), abs(at.x - at.y));
    d = max(min(q.x, q.y) - 1.1 * ratio, round_);
  }
  else if (shape == 5) { d = abs(round_ + ratio) - ratio; if (sin(8.0 * atan(at.y, at.x)) < 0.0) d = 4.0; }
  float inside = clamp(0.5 - d, 0.0, 1.0), rim = clamp(0.5 - (d - 1.4 * ratio), 0.0, 1.0);
  float strength = shade.a * mix(hidden, 1.0, seen);
  painted = vec4(mix(dark, shade.rgb, inside), strength * max(inside, 0.75 * rim * (shape == 5 ? 0.0 : 1.0)));
}`;

export class Glyphs {
  readonly group = new Group();
  private readonly geometry = quads(-1);
  private readonly meshes: Mesh[];
  private capacity = 0;

  /** Glyphs that the character hides are drawn with `hidden` of their opacity; 1 draws them over everything. */
  constructor(hidden: number) {
    const { meshes, always } = makeLayeredMeshes(
      this.geometry,
      { hidden: { value: hidden }, dark: { value: DARK } },
      VERTEX,
      FRAGMENT,
      14,
    );
    always(hidden >= 1);
    this.meshes = meshes;
    this.group.add(...meshes);
  }

  set(glyphs: readonly Glyph[]): void {
    if (glyphs.length > this.capacity) this.grow(Math.max(64, 2 * glyphs.length));
    const of = (name: string): Float32Array =>
      (this.geometry.getAttribute(name) as InstancedBufferAttribute).array as Float32Array;
    this.geometry.instanceCount = glyphs.length;
    if (!glyphs.length) return;
    const [places, tints, forms] = [of("place"), of("tint"), of("form")];
    glyphs.forEach(({ place, shape, size, colour, alpha = 1 }, i) => {
      for (let c = 0; c < 3; c++) places[3 * i + c] = place[c];
      tints.set([colour.r, colour.g, colour.b, alpha], 4 * i);
      forms.set([size, SHAPES[shape]], 2 * i);
    });
    for (const name of ["place", "tint", "form"]) this.geometry.getAttribute(name).needsUpdate = true;
  }

  dispose(): void {
    disposeMeshes(this.meshes);
  }

  private grow(room: number): void {
    this.capacity = room;
    this.geometry.dispose();
    for (const [name, width] of [
      ["place", 3],
      ["tint", 4],
      ["form", 2],
    ] as const)
      this.geometry.setAttribute(name, new InstancedBufferAttribute(new Float32Array(width * room), width));
  }
}
