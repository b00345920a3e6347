/** Ghosts: the character at other times, seen through, as animators know them from onion skin paper. */
import { Color, FrontSide, GLSL3, Group, LessEqualDepth, Mesh, RawShaderMaterial, type WebGLRenderer } from "three";
import { READ } from "./data_textures";
import { type Deformation, Skinned } from "./deformation";
import { placingUniforms, pointAt } from "./deformed_material";
import type { Description } from "./description";
import type { Figure } from "./figure";
import { FORM, type Frame, HEADER } from "./frames";
import { Streamed } from "./streamed_mesh";

const PAST = new Color("#e0607e").convertLinearToSRGB();
const FUTURE = new Color("#4cc9b0").convertLinearToSRGB();
const STRONGEST = 0.75; // of the outline of the nearest one; it fades with the distance in time

interface Ghost {
  deformation: Deformation;
  meshes: Mesh[];
}

export class Ghosts {
  readonly group = new Group();
  private ghosts: Ghost[] = [];
  private figure: Figure | null = null;

  /** Ghosts of a figure from a frame of form 6, the ones before `now` rose, those after it teal. */
  show(figure: Figure | null, data: ArrayBuffer | null, now: number): void {
    if (figure !== this.figure) this.dispose();
    this.figure = figure;
    const found = figure && data ? ghostFrames(data, figure.description) : [];
    while (this.ghosts.length > found.length) this.drop();
    while (figure && this.ghosts.length < found.length) this.add(figure);
    const farthest = Math.max(1e-6, ...found.map((frame) => Math.abs(frame.time - now)));
    found.forEach((frame, i) => {
      const { deformation, meshes } = this.ghosts[i];
      deformation.accept(frame);
      const uniforms = (meshes[1].material as RawShaderMaterial).uniforms;
      uniforms.colour.value = frame.time < now ? PAST : FUTURE;
      uniforms.strength.value = STRONGEST * (1 - 0.6 * (Math.abs(frame.time - now) / farthest));
    });
  }

  update(renderer: WebGLRenderer): void {
    for (const { deformation } of this.ghosts) deformation.update(renderer);
  }

  dispose(): void {
    while (this.ghosts.length) this.drop();
  }

  private add(figure: Figure): void {
    const streamed = figure.description.form === FORM.vertices;
    const deformation = streamed ? new Streamed(figure.description) : new Skinned(figure.description, 1);
    // The surface that is nearest is drawn alone: first its depth, then its colour where the depth is the same.
    const meshes = [ghostMaterial(deformation, false), ghostMaterial(deformation, true)].map((material, order) => {
      const mesh = new Mesh(figure.whole, material);
      mesh.frustumCulled = false;
      mesh.renderOrder = 1 + order;
      this.group.add(mesh);
      return mesh;
    });
    this.ghosts.push({ deformation, meshes });
  }

  private drop(): void {
    const ghost = this.ghosts.pop();
    if (!ghost) return;
    ghost.deformation.dispose();
    for (const mesh of ghost.meshes) {
      this.group.remove(mesh);
      (mesh.material as RawShaderMaterial).dispose();
    }
  }
}

/** The poses of a frame of form 6: N times, then N payloads as the stage's own frames have. */
export function ghostFrames(
  data: ArrayBuffer,
  { form, bones, weights, vertices }: Pick<Description, "form" | "bones" | "weights" | "vertices">,
): Frame[] {
  const view = new DataView(data);
  const [count, words] = [view.getUint32(24, true), view.getUint32(28, true)];
  const times = new Float32Array(data, HEADER, count);
  const [a, b] = form === FORM.vertices ? [vertices, 0] : [bones.length, weights];
  return Array.from(times, (time, i) => {
    const values = new Float32Array(data, HEADER + 4 * (count + i * words), words);
    return { stream: 0, sequence: 0, form, time, a, b, values };
  });
}

function ghostMaterial(deformation: Deformation, coloured: boolean): RawShaderMaterial {
  const uniforms = placingUniforms();
  pointAt(uniforms, deformation);
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    side: FrontSide,
    transparent: true, // drawn after what is solid, which hides it
    colorWrite: coloured,
    depthWrite: !coloured,
    depthFunc: LessEqualDepth,
    polygonOffset: true, // what has not moved is the character's own, not its ghost's
    polygonOffsetFactor: 2,
    polygonOffsetUnits: 8,
    uniforms: { ...uniforms, colour: { value: PAST }, strength: { value: STRONGEST } },
    vertexShader: /* glsl */ `
      precision highp float;
      precision highp int;
      precision highp sampler2D;
      uniform mat4 projectionMatrix, viewMatrix;
      uniform vec3 cameraPosition;
      uniform sampler2D places, facings;
      in float source;
      out float rim;
      ${READ}
      void main() {
        vec3 at = rowOf(places, int(source)).xyz;
        rim = 1.0 - abs(dot(normalize(cameraPosition - at), rowOf(facings, int(source)).xyz));
        gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      precision highp float;
      uniform vec3 colour;
      uniform float strength;
      in float rim;
      out vec4 painted;
      void main() { painted = vec4(colour, strength * (0.2 + 0.8 * rim * rim)); }`,
  });
}
