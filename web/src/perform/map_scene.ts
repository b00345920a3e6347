/**
 * What the map is made of: a thin curve for each clip, faint bridges, dust where poses are likely, and the particle.
 */
import {
  AdditiveBlending,
  BufferAttribute,
  BufferGeometry,
  Color,
  CustomBlending,
  Fog,
  Group,
  type InterleavedBufferAttribute,
  LineBasicMaterial,
  LineSegments,
  MaxEquation,
  OneFactor,
  Points,
  Scene,
  ShaderMaterial,
} from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";
import { AMBER, BACKGROUND, hueColour } from "./hues";
import type { LatentMap } from "./map_file";
import type { Trail } from "./trail";

const THIN = 1.3; // px of a curve
const GLOW = 7; // px of a grain of dust, on a map as small as the panel's
const MOST_TAIL = 64; // segments of one voice's tail
const VOICES = 4;

const DUST_VERTEX = `
attribute vec4 tint; uniform float pixels; varying vec4 shown; varying float far;
void main() {
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * place;
  gl_PointSize = pixels * (0.6 + 0.8 * tint.a);
  shown = tint; far = -place.z;
}`;
const DUST_FRAGMENT = `
uniform float near; uniform float beyond; uniform float strength; varying vec4 shown; varying float far;
void main() {
  float away = 2.0 * length(gl_PointCoord - 0.5);
  float edge = max(1.0 - away, 0.0);
  float fade = 1.0 - 0.8 * smoothstep(near, beyond, far);
  gl_FragColor = vec4(shown.rgb, strength * shown.a * edge * fade);
  #include <colorspace_fragment>
}`;
const PARTICLE_VERTEX = `
attribute float weight; uniform float pixels; varying float loud;
void main() {
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  gl_PointSize = pixels * (0.55 + 0.45 * weight); loud = weight;
}`;
const PARTICLE_FRAGMENT = `
uniform vec3 colour; varying float loud;
void main() {
  float away = 2.0 * length(gl_PointCoord - 0.5);
  float core = 1.0 - smoothstep(0.22, 0.32, away);
  float halo = pow(max(1.0 - away, 0.0), 2.2) * 0.55;
  gl_FragColor = vec4(mix(colour, vec3(1.0, 0.93, 0.8), 0.65 * core), max(core, halo) * smoothstep(0.0, 0.15, loud));
}`;

export interface MapScene {
  readonly scene: Scene;
  /** What is drawn next: what moves is drawn over all else. */
  only(part: "still" | "moving"): void;
  /** How wide the picture is, in device pixels of one CSS pixel; and from where it is seen. */
  view(width: number, height: number, ratio: number, distance: number, radius: number): void;
  /** The label that is performed now stands out; so do its bridges. */
  emphasise(label: string | null): void;
  /** The particles and their tails at a time. */
  particles(trails: readonly Trail[], time: number): void;
  dispose(): void;
}

export function createMapScene(map: LatentMap): MapScene {
  const scene = new Scene();
  const fog = new Fog(BACKGROUND, 1, 10);
  scene.fog = fog;
  const hues = map.labels.map((entry) => hueColour(entry.label));
  const lines = new LineMaterials(fog);
  const curves = map.labels.map((_, number) => curveOf(map, number, hues[number], lines));
  const bridges = bridgesOf(map, hues);
  const dust = dustOf(map, hues);
  const particle = particleOf();
  const tail = tailOf(lines);
  const [still, moving] = [new Group(), new Group()];
  still.add(dust, bridges.object, ...curves);
  moving.add(tail.object, particle.object);
  scene.add(still, moving);

  return {
    scene,
    only(part) {
      still.visible = part === "still";
      moving.visible = part === "moving";
    },
    view(width, height, ratio, distance, radius) {
      lines.resize(width, height);
      (dust.material as ShaderMaterial).uniforms.pixels.value =
        GLOW * ratio * Math.sqrt(Math.min(width, height) / ratio / 280);
      particle.material.uniforms.pixels.value = 26 * ratio;
      const [near, beyond] = [Math.max(0.1, distance - radius), distance + 1.6 * radius];
      fog.near = near;
      fog.far = beyond + 0.6 * radius;
      (dust.material as ShaderMaterial).uniforms.near.value = near;
      (dust.material as ShaderMaterial).uniforms.beyond.value = beyond;
    },
    emphasise(label) {
      const current = map.labels.findIndex((entry) => entry.label === label);
      curves.forEach((curve, number) => {
        const material = curve.material as LineMaterial;
        material.color.setScalar(current < 0 || number === current ? 1 : 0.55);
        material.linewidth = number === current ? THIN * 1.3 : THIN;
      });
      bridges.emphasise(current);
    },
    particles(trails, time) {
      particle.put(trails.map((trail) => trail.at(time)));
      tail.put(trails, time);
    },
    dispose() {
      scene.traverse((object) => {
        const drawn = object as Partial<Points>;
        drawn.geometry?.dispose();
        (drawn.material as ShaderMaterial | undefined)?.dispose();
      });
    },
  };
}

/** Line materials, which have to know the picture's size. */
class LineMaterials {
  private readonly all: LineMaterial[] = [];
  constructor(readonly fog: Fog) {}

  make(width: number, light = false): LineMaterial {
    // Opaque where they may be: the rounded ends of segments overlap, and would be seen as beads.
    const material = new LineMaterial({
      vertexColors: true,
      linewidth: width,
      transparent: light,
      depthWrite: !light,
      fog: !light,
    });
    // The brighter of both, so that ends which overlap are no brighter than the rest.
    if (light)
      Object.assign(material, {
        blending: CustomBlending,
        blendEquation: MaxEquation,
        blendSrc: OneFactor,
        blendDst: OneFactor,
      });
    this.all.push(material);
    return material;
  }

  resize(width: number, height: number): void {
    for (const material of this.all) material.resolution.set(width, height);
  }
}

/** The clips of one label: darker where each begins, so that it is seen which way it goes. */
function curveOf(map: LatentMap, label: number, hue: Color, lines: LineMaterials): LineSegments2 {
  const [places, colours]: [number[], number[]] = [[], []];
  const dark = hue.clone().lerp(new Color(BACKGROUND), 0.55);
  const at = new Color();
  for (const clip of map.clips.filter((each) => each.label === label)) {
    for (let i = 0; i < clip.count - 1; i++) {
      const from = 3 * (clip.first + i);
      places.push(...map.points.subarray(from, from + 6));
      for (const step of [i, i + 1])
        colours.push(
          ...at
            .copy(dark)
            .lerp(hue, Math.min(1, step / Math.max(clip.count - 1, 1) + 0.15))
            .toArray(),
        );
    }
  }
  const geometry = new LineSegmentsGeometry();
  if (places.length) geometry.setPositions(places).setColors(colours);
  const object = new LineSegments2(geometry, lines.make(THIN));
  object.frustumCulled = false;
  return object;
}

function bridgesOf(map: LatentMap, hues: Color[]): { object: LineSegments; emphasise(label: number): void } {
  const geometry = new BufferGeometry();
  const colours = new Float32Array((map.bridges.length / 6) * 8);
  geometry.setAttribute("position", new BufferAttribute(map.bridges, 3));
  geometry.setAttribute("color", new BufferAttribute(colours, 4));
  const object = new LineSegments(
    geometry,
    new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }),
  );
  object.frustumCulled = false;
  const emphasise = (label: number): void => {
    for (const pair of map.pairs) {
      const mine = pair.first === label || pair.second === label;
      const alpha = (mine ? 0.3 : 0.07) * (0.6 + 0.4 * pair.near);
      for (let i = pair.begin; i < pair.begin + pair.count; i++) {
        for (const [end, hue] of [hues[pair.first], hues[pair.second]].entries())
          colours.set([hue.r, hue.g, hue.b, alpha], 8 * i + 4 * end);
      }
    }
    geometry.attributes.color.needsUpdate = true;
  };
  emphasise(-1);
  return { object, emphasise };
}

function dustOf(map: LatentMap, hues: Color[]): Points {
  const count = map.dust.length / 4;
  const [places, tints] = [new Float32Array(3 * count), new Float32Array(4 * count)];
  let at = 0;
  map.labels.forEach((label, number) => {
    for (let i = 0; i < label.dust; i++, at++) {
      places.set(map.dust.subarray(4 * at, 4 * at + 3), 3 * at);
      tints.set([hues[number].r, hues[number].g, hues[number].b, map.dust[4 * at + 3]], 4 * at);
    }
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(places, 3));
  geometry.setAttribute("tint", new BufferAttribute(tints, 4));
  const uniforms = { pixels: { value: GLOW }, near: { value: 1 }, beyond: { value: 10 }, strength: { value: 0.11 } };
  const material = new ShaderMaterial({
    vertexShader: DUST_VERTEX,
    fragmentShader: DUST_FRAGMENT,
    uniforms,
    transparent: true,
    depthWrite: false,
    blending: AdditiveBlending,
  });
  const object = new Points(geometry, material);
  object.frustumCulled = false;
  return object;
}

function particleOf() {
  const geometry = new BufferGeometry();
  const [places, weights] = [new Float32Array(3 * VOICES), new Float32Array(VOICES)];
  geometry.setAttribute("position", new BufferAttribute(places, 3));
  geometry.setAttribute("weight", new BufferAttribute(weights, 1));
  const uniforms = { pixels: { value: 26 }, colour: { value: new Color(AMBER).convertLinearToSRGB() } };
  const material = new ShaderMaterial({
    vertexShader: PARTICLE_VERTEX,
    fragmentShader: PARTICLE_FRAGMENT,
    uniforms,
    transparent: true,
    depthTest: false,
    depthWrite: false,
  });
  const object = new Points(geometry, material);
  object.frustumCulled = false;
  object.renderOrder = 3;
  return {
    object,
    material,
    put(found: ({ place: readonly number[]; weight: number } | null)[]): void {
      let count = 0;
      for (const each of found) {
        if (!each || count === VOICES) continue;
        places.set(each.place, 3 * count);
        weights[count++] = each.weight;
      }
      geometry.setDrawRange(0, count);
      geometry.attributes.position.needsUpdate = geometry.attributes.weight.needsUpdate = true;
    },
  };
}

/** The tails of all voices; what fades goes to black, which leaves the picture as it is. */
function tailOf(lines: LineMaterials) {
  const amber = new Color(AMBER);
  const material = lines.make(2.4, true);
  material.depthTest = false;
  const geometry = new LineSegmentsGeometry();
  const [places, colours] = [new Float32Array(6 * MOST_TAIL * VOICES), new Float32Array(6 * MOST_TAIL * VOICES)];
  geometry.setPositions(places).setColors(colours); // which keep these arrays: they are written again and again
  const buffers = ["instanceStart", "instanceColorStart"].map(
    (name) => (geometry.attributes[name] as InterleavedBufferAttribute).data,
  );
  const object = new LineSegments2(geometry, material);
  object.frustumCulled = false;
  object.renderOrder = 2;
  return {
    object,
    put(trails: readonly Trail[], time: number): void {
      let count = 0;
      for (const trail of trails.slice(0, VOICES)) {
        for (const { from, to, fresh, bridge } of trail.tail(time).slice(0, MOST_TAIL)) {
          const light = fresh * fresh * (bridge ? 0.35 : 0.9);
          places.set([...from, ...to], 6 * count);
          colours.set(
            [amber.r * light, amber.g * light, amber.b * light, amber.r * light, amber.g * light, amber.b * light],
            6 * count++,
          );
        }
      }
      for (const buffer of buffers) buffer.needsUpdate = true;
      geometry.instanceCount = count;
      object.visible = count > 0;
    },
  };
}
