/**
 * The marks: claw scratches and a ring of embers. A shader draws each on its own square, up to a stroke position from 0
 * to 1, so that drawing can be animated.
 */
import { DoubleSide, Mesh, PlaneGeometry, ShaderMaterial } from "three";

export type MarkKind = "claw" | "ember";

const VERTEX = /* glsl */ `
varying vec2 at;
void main() {
  at = uv * 2.0 - 1.0;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const NOISE = /* glsl */ `
float hash(vec2 p) { return fract(sin(dot(p, vec2(127.1, 311.7))) * 43758.5453); }
float noise(vec2 p) {
  vec2 i = floor(p), f = fract(p);
  f = f * f * (3.0 - 2.0 * f);
  return mix(mix(hash(i), hash(i + vec2(1, 0)), f.x), mix(hash(i + vec2(0, 1)), hash(i + vec2(1, 1)), f.x), f.y);
}
varying vec2 at;
uniform float stroke, strength, lit, time, seed;
`;

/** Two strokes of three claws each: pale grooves, darker on the side of the light, with ragged ends. */
const CLAW = /* glsl */ `
${NOISE}
// a groove along x from -1 to 1, drawn up to s; x: how much of it is here, y: which side of it
vec2 groove(vec2 p, float s, float offset, float length, float wide) {
  float bend = 0.07 * (1.0 - p.x * p.x) * (1.0 + offset);
  float across = p.y - offset * 0.18 - bend;
  float along = p.x / length;
  float ragged = 0.82 + 0.36 * noise(vec2(p.x * 7.0 + seed, offset * 9.0));
  float shape = wide * pow(max(0.0, 1.0 - along * along), 0.6) * ragged;
  float edge = fwidth(across) + 0.006;
  float drawn = step(abs(along), 1.0) * smoothstep(0.03, -0.03, along - (2.0 * s - 1.0));
  float here = smoothstep(edge, -edge, abs(across) - shape) * drawn;
  return vec2(here, across / max(shape, 1e-3));
}
void main() {
  vec3 colour = vec3(0.0);
  float alpha = 0.0, dark = 0.0;
  for (int k = 0; k < 2; k++) {
    float turn = k == 0 ? -0.98 : 0.86;
    float s = clamp(stroke * 2.0 - float(k), 0.0, 1.0);
    vec2 p = mat2(cos(turn), -sin(turn), sin(turn), cos(turn)) * at;
    for (int j = -1; j <= 1; j++) {
      float o = float(j);
      vec2 g = groove(p, s, o, 1.06 - 0.26 * abs(o) - 0.08 * o, 0.072 - 0.03 * abs(o));
      vec3 cut = mix(vec3(0.98, 0.94, 0.85), vec3(0.55, 0.50, 0.45), smoothstep(-0.2, 1.0, g.y));
      colour = mix(colour, cut, g.x);
      alpha = max(alpha, g.x);
      float longer = 1.08 - 0.26 * abs(o) - 0.08 * o;
      dark = max(dark, groove(p - vec2(0.0, 0.014), s, o, longer, 0.095 - 0.035 * abs(o)).x * 0.5);
    }
  }
  colour = mix(vec3(0.03), colour, step(0.001, alpha) * alpha / max(max(alpha, dark), 1e-3));
  colour += lit * alpha * vec3(0.95, 0.55, 0.12) * (0.35 + 0.15 * sin(time * 5.0));
  gl_FragColor = vec4(colour, max(alpha, dark) * strength);
  #include <colorspace_fragment>
}`;

/** A glowing ring: hot in the middle of its band, charred beside it, with a glow on the stone. */
const EMBER = /* glsl */ `
${NOISE}
void main() {
  float angle = atan(at.x, at.y) / 6.2831853;
  angle = angle < 0.0 ? angle + 1.0 : angle;
  vec2 dir = normalize(at + 1e-5);
  float wobble = 0.035 * (noise(dir * 2.3 + seed) - 0.5) + 0.02 * (noise(dir * 7.0 - seed) - 0.5);
  float r = length(at) - 0.62 - wobble;
  float drawn = smoothstep(0.02, -0.02, angle - stroke * 1.04);
  float wide = 0.125 * (0.8 + 0.4 * noise(dir * 3.1 + seed * 2.0));
  float band = smoothstep(wide + 0.012, wide - 0.02, abs(r));
  float crackle = noise(at * 9.0 + seed) * 0.6 + noise(at * 23.0 - seed) * 0.4;
  float breath = 0.88 + 0.12 * sin(time * 2.1 + seed + 3.0 * noise(at * 3.0 + time * 0.4));
  float heat = (1.0 - abs(r) / wide) * (0.55 + 0.75 * crackle) * breath * (1.0 + 0.5 * lit);
  float tip = exp(-abs(angle - stroke * 1.04) * 22.0) * step(stroke, 0.999);
  heat += tip * 0.9;
  vec3 hot = mix(vec3(0.28, 0.05, 0.02), vec3(0.98, 0.38, 0.07), smoothstep(0.05, 0.5, heat));
  hot = mix(hot, vec3(1.0, 0.83, 0.42), smoothstep(0.55, 1.15, heat));
  float charred = smoothstep(0.26, 0.08, abs(r)) * 0.5;
  float glow = exp(-abs(r) * 5.5) * (0.42 + 0.3 * lit) * breath;
  vec3 colour = mix(vec3(0.95, 0.35, 0.08), hot, band);
  float alpha = max(band, max(glow, 0.0)) * drawn;
  float dark = charred * (1.0 - band) * drawn * 0.55;
  float total = alpha + dark * (1.0 - alpha);
  gl_FragColor = vec4(mix(vec3(0.02, 0.015, 0.015), colour, alpha / max(total, 1e-3)), total * strength);
  #include <colorspace_fragment>
}`;

/** The keyboard cursor: a thin frame with open sides. */
const FRAME = /* glsl */ `
${NOISE}
void main() {
  vec2 q = abs(at);
  float side = max(q.x, q.y);
  float line = smoothstep(0.03, 0.0, abs(side - 0.86) - 0.022);
  float corner = smoothstep(0.42, 0.5, min(q.x, q.y));
  gl_FragColor = vec4(0.949, 0.639, 0.227, line * corner * strength);
}`;

const SOURCES = { claw: CLAW, ember: EMBER, frame: FRAME };

export interface MarkLook {
  stroke: { value: number };
  strength: { value: number };
  lit: { value: number };
}

/** Creates a mark on a unit square in the x-y plane. */
export function makeMark(
  kind: MarkKind | "frame",
  seed: number,
): { mesh: Mesh<PlaneGeometry, ShaderMaterial>; look: MarkLook } {
  const look = { stroke: { value: 1 }, strength: { value: 1 }, lit: { value: 0 } };
  const time = { value: 0 };
  const material = new ShaderMaterial({
    uniforms: { ...look, time, seed: { value: seed } },
    vertexShader: VERTEX,
    fragmentShader: SOURCES[kind],
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    toneMapped: false,
  });
  const mesh = new Mesh(new PlaneGeometry(1, 1), material);
  mesh.renderOrder = kind === "frame" ? 4 : 3;
  mesh.onBeforeRender = () => {
    time.value = (performance.now() / 1000) % 1000;
    material.uniformsNeedUpdate = true;
  };
  return { mesh, look };
}
