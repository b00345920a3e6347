/** Onion skin: the character at other times, transparent. */
import { Color, FrontSide, GLSL3, Group, LessEqualDepth, Mesh, RawShaderMaterial, type WebGLRenderer } from "three";
import { READ_ROW } from "./data_textures";
import { type Deformation, SkinnedDeformation } from "./deformation";
import { bindDrawn, deformationUniforms } from "./deformed_material";
import type { Description } from "./description";
import type { Figure } from "./figure";
import { FORM, type Frame, HEADER } from "./frames";
import { StreamedMesh } from "./streamed_mesh";

const PAST = new Color("#e0607e").convertLinearToSRGB();
const FUTURE = new Color("#4cc9b0").convertLinearToSRGB();
const MAX_STRENGTH = 0.75; // opacity of the nearest ghost; it decreases with the distance in time

interface Ghost {
  deformation: Deformation;
  meshes: Mesh[];
}

export class Ghosts {
  readonly group = new Group();
  private ghosts: Ghost[] = [];
  private figure: Figure | null = null;

  /** Shows the poses of a frame of form 6, rose before `now` and teal after it. */
  show(figure: Figure | null, data: ArrayBuffer | null, now: number): void {
    if (figure !== this.figure) this.dispose();
    this.figure = figure;
    const frames = figure && data ? ghostFrames(data, figure.description) : [];
    while (this.ghosts.length > frames.length) this.drop();
    while (figure && this.ghosts.length < frames.length) this.add(figure);
    const farthest = Math.max(1e-6, ...frames.map((frame) => Math.abs(frame.time - now)));
    frames.forEach((frame, i) => {
      const { deformation, meshes } = this.ghosts[i];
      deformation.accept(frame);
      const uniforms = (meshes[1].material as RawShaderMaterial).uniforms;
      uniforms.colour.value = frame.time < now ? PAST : FUTURE;
      uniforms.strength.value = MAX_STRENGTH * (1 - 0.6 * (Math.abs(frame.time - now) / farthest));
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
    const deformation = streamed ? new StreamedMesh(figure.description) : new SkinnedDeformation(figure.description, 1);
    // Only the nearest surface is visible: the first mesh writes depth, the second colour where the depth is equal.
    const meshes = [ghostMaterial(deformation, false), ghostMaterial(deformation, true)].map((material, order) => {
      const mesh = new Mesh(figure.wholeGeometry, material);
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

/** The poses of a frame of form 6: N times, then N payloads as in frames of the stage. */
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
  const uniforms = deformationUniforms();
  bindDrawn(uniforms, deformation);
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    side: FrontSide,
    transparent: true, // drawn after opaque meshes, which hide it
    colorWrite: coloured,
    depthWrite: !coloured,
    depthFunc: LessEqualDepth,
    polygonOffset: true, // where nothing has moved the character itself is visible
    polygonOffsetFactor: 2,
    polygonOffsetUnits: 8,
    uniforms: { ...uniforms, colour: { value: PAST }, strength: { value: MAX_STRENGTH } },
    vertexShader: /* glsl */ `
      precision highp float;
      precision highp int;
      precision highp sampler2D;
      uniform mat4 projectionMatrix, viewMatrix;
      uniform vec3 cameraPosition;
      uniform sampler2D places, facings;
      in float source;
      out float rim;
      ${READ_ROW}
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
