/** The scene of the map: a thin curve for each clip, faint bridges, dust where poses are likely, and the particle. */
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

const CURVE_WIDTH_PX = 1.3;
const DUST_SIZE_PX = 7; // of a dust point, on a map of the panel's size
const MAX_TAIL_SEGMENTS = 64; // for each voice
const MAX_VOICES = 4;

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
  /** Shows only one part for the next render; the moving part is drawn over the still one. */
  showOnly(part: "still" | "moving"): void;
  /** Sets the size of the image in device pixels, the pixel ratio, and the distance and radius of the view. */
  setView(width: number, height: number, ratio: number, distance: number, radius: number): void;
  /** Emphasises the label that is performed now, and its bridges. */
  emphasise(label: string | null): void;
  /** Updates the particles and their tails. */
  particles(trails: readonly Trail[], time: number): void;
  dispose(): void;
}

export function createMapScene(map: LatentMap): MapScene {
  const scene = new Scene();
  const fog = new Fog(BACKGROUND, 1, 10);
  scene.fog = fog;
  const hues = map.labels.map((entry) => hueColour(entry.label));
  const lines = new LineMaterials(fog);
  const curves = map.labels.map((_, number) => makeCurves(map, number, hues[number], lines));
  const bridges = makeBridges(map, hues);
  const dust = makeDust(map, hues);
  const particle = makeParticles();
  const tail = makeTails(lines);
  const [still, moving] = [new Group(), new Group()];
  still.add(dust, bridges.object, ...curves);
  moving.add(tail.object, particle.object);
  scene.add(still, moving);

  return {
    scene,
    showOnly(part) {
      still.visible = part === "still";
      moving.visible = part === "moving";
    },
    setView(width, height, ratio, distance, radius) {
      lines.resize(width, height);
      (dust.material as ShaderMaterial).uniforms.pixels.value =
        DUST_SIZE_PX * ratio * Math.sqrt(Math.min(width, height) / ratio / 280);
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
        material.linewidth = number === current ? CURVE_WIDTH_PX * 1.3 : CURVE_WIDTH_PX;
      });
      bridges.emphasise(current);
    },
    particles(trails, time) {
      particle.update(trails.map((trail) => trail.sampleAt(time)));
      tail.update(trails, time);
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

/** Line materials, which depend on the size of the image. */
class LineMaterials {
  private readonly all: LineMaterial[] = [];
  constructor(readonly fog: Fog) {}

  make(width: number, light = false): LineMaterial {
    // Opaque if possible: the round ends of segments overlap, and would be visible as beads.
    const material = new LineMaterial({
      vertexColors: true,
      linewidth: width,
      transparent: light,
      depthWrite: !light,
      fog: !light,
    });
    // The maximum of both colours, so that overlapping ends are not brighter.
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

/** The clips of one label: darker at the start, to show their direction. */
function makeCurves(map: LatentMap, label: number, hue: Color, lines: LineMaterials): LineSegments2 {
  const [places, colours]: [number[], number[]] = [[], []];
  const dark = hue.clone().lerp(new Color(BACKGROUND), 0.55);
  const at = new Color();
  for (const clip of map.clips.filter((entry) => entry.label === label)) {
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
  const object = new LineSegments2(geometry, lines.make(CURVE_WIDTH_PX));
  object.frustumCulled = false;
  return object;
}

function makeBridges(map: LatentMap, hues: Color[]): { object: LineSegments; emphasise(label: number): void } {
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
      const isCurrent = pair.first === label || pair.second === label;
      const alpha = (isCurrent ? 0.3 : 0.07) * (0.6 + 0.4 * pair.near);
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

function makeDust(map: LatentMap, hues: Color[]): Points {
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
  const uniforms = {
    pixels: { value: DUST_SIZE_PX },
    near: { value: 1 },
    beyond: { value: 10 },
    strength: { value: 0.11 },
  };
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

function makeParticles() {
  const geometry = new BufferGeometry();
  const [places, weights] = [new Float32Array(3 * MAX_VOICES), new Float32Array(MAX_VOICES)];
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
    update(found: ({ place: readonly number[]; weight: number } | null)[]): void {
      let count = 0;
      for (const sample of found) {
        if (!sample || count === MAX_VOICES) continue;
        places.set(sample.place, 3 * count);
        weights[count++] = sample.weight;
      }
      geometry.setDrawRange(0, count);
      geometry.attributes.position.needsUpdate = geometry.attributes.weight.needsUpdate = true;
    },
  };
}

/** The tails of all voices; they fade to black, which adds nothing to the image. */
function makeTails(lines: LineMaterials) {
  const amber = new Color(AMBER);
  const material = lines.make(2.4, true);
  material.depthTest = false;
  const geometry = new LineSegmentsGeometry();
  const [places, colours] = [
    new Float32Array(6 * MAX_TAIL_SEGMENTS * MAX_VOICES),
    new Float32Array(6 * MAX_TAIL_SEGMENTS * MAX_VOICES),
  ];
  geometry.setPositions(places).setColors(colours); // the geometry keeps these arrays, which are updated in place
  const buffers = ["instanceStart", "instanceColorStart"].map(
    (name) => (geometry.attributes[name] as InterleavedBufferAttribute).data,
  );
  const object = new LineSegments2(geometry, material);
  object.frustumCulled = false;
  object.renderOrder = 2;
  return {
    object,
    update(trails: readonly Trail[], time: number): void {
      let count = 0;
      for (const trail of trails.slice(0, MAX_VOICES)) {
        for (const { from, to, fresh, bridge } of trail.tail(time).slice(0, MAX_TAIL_SEGMENTS)) {
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
