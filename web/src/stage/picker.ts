/**
 * Picking by an id buffer: one pixel is drawn with indices instead of colours, so every deformation is picked as drawn.
 */
import {
  type BufferGeometry,
  Color,
  DoubleSide,
  FloatType,
  GLSL3,
  Mesh,
  NearestFilter,
  NoBlending,
  type PerspectiveCamera,
  RawShaderMaterial,
  Scene,
  type WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import type { Picked } from "./api";
import { READ_ROW } from "./data_textures";
import type { Figure } from "./figure";

export class Picker {
  private readonly scene = new Scene();
  private readonly target = new WebGLRenderTarget(1, 1, {
    count: 2,
    type: FloatType,
    minFilter: NearestFilter,
    magFilter: NearestFilter,
  });
  private readonly meshes = new Map<Figure, Mesh<BufferGeometry, RawShaderMaterial>>();
  private readonly pixels = [new Float32Array(4), new Float32Array(4)];

  add(figure: Figure): void {
    const mesh = new Mesh(figure.wholeGeometry, idMaterial(figure));
    mesh.frustumCulled = false;
    this.meshes.set(figure, mesh);
    this.scene.add(mesh);
  }

  remove(figure: Figure): void {
    const mesh = this.meshes.get(figure);
    if (!mesh) return;
    this.scene.remove(mesh);
    mesh.material.dispose();
    this.meshes.delete(figure);
  }

  /** What lies at a pixel of a canvas of `width` by `height`. */
  pick(
    renderer: WebGLRenderer,
    camera: PerspectiveCamera,
    x: number,
    y: number,
    width: number,
    height: number,
  ): Picked | null {
    if (!this.meshes.size) return null;
    const figures = [...this.meshes.keys()];
    for (const [i, mesh] of [...this.meshes.values()].entries()) {
      figures[i].updateAll(renderer);
      mesh.material.uniforms.figure.value = i + 1;
    }
    const before = renderer.getRenderTarget();
    const colour = renderer.getClearColor(new Color());
    const alpha = renderer.getClearAlpha();
    camera.setViewOffset(width, height, Math.floor(x), Math.floor(y), 1, 1);
    renderer.setRenderTarget(this.target);
    renderer.setClearColor(0x000000, 0);
    renderer.clear();
    renderer.render(this.scene, camera);
    camera.clearViewOffset();
    for (const [i, pixel] of this.pixels.entries())
      renderer.readRenderTargetPixels(this.target, 0, 0, 1, 1, pixel, undefined, i);
    renderer.setRenderTarget(before);
    renderer.setClearColor(colour, alpha);
    const [[drawn, instance, number], [px, py, pz]] = this.pixels;
    const figure = figures[number - 1];
    return figure ? pickedFrom(figure, drawn, instance, [px, py, pz]) : null;
  }

  dispose(): void {
    for (const figure of [...this.meshes.keys()]) this.remove(figure);
    this.target.dispose();
  }
}

function pickedFrom(figure: Figure, drawn: number, instance: number, point: [number, number, number]): Picked {
  const { description, mainJoints } = figure;
  const part = description.parts.find(
    (candidate) => drawn >= candidate.start && drawn < candidate.start + candidate.count,
  );
  return {
    character: description.name,
    part: part?.name ?? "",
    joint: description.joints[mainJoints[drawn]] ?? "",
    vertex: description.origins[drawn],
    point,
    instance,
  };
}

function idMaterial(figure: Figure): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    side: DoubleSide,
    blending: NoBlending,
    uniforms: { ...figure.allUniforms, figure: { value: 0 } } as never,
    vertexShader: /* glsl */ `
      precision highp float;
      precision highp int;
      precision highp sampler2D;
      uniform mat4 projectionMatrix, viewMatrix;
      uniform sampler2D places;
      uniform int stride;
      in float source, drawn;
      flat out vec2 who;
      out vec3 where;
      ${READ_ROW}
      void main() {
        where = rowOf(places, int(source) + gl_InstanceID * stride).xyz;
        who = vec2(drawn, float(gl_InstanceID));
        gl_Position = projectionMatrix * viewMatrix * vec4(where, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      precision highp float;
      uniform float figure;
      flat in vec2 who;
      in vec3 where;
      layout(location = 0) out vec4 id;
      layout(location = 1) out vec4 point;
      void main() { id = vec4(who, figure, 1.0); point = vec4(where, 1.0); }`,
  });
}
