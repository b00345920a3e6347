/** The outline of the selection: its shape is drawn into a mask, and the mask's edge in amber over the image. */
import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  GLSL3,
  LinearFilter,
  Mesh,
  type PerspectiveCamera,
  RawShaderMaterial,
  Scene,
  Vector2,
  type WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import { READ_ROW } from "./data_textures";
import type { Figure } from "./figure";

const AMBER = "#f2a33a";
const WIDTH_PX = 1.6; // CSS pixels

export class Outline {
  private readonly mask = new WebGLRenderTarget(1, 1, { minFilter: LinearFilter, magFilter: LinearFilter });
  private readonly maskScene = new Scene();
  private readonly edgeScene = new Scene();
  private readonly edge: RawShaderMaterial;
  private readonly screen = new BufferGeometry();
  private shapes: Mesh[] = [];
  private figure: Figure | null = null;

  constructor() {
    this.edge = new RawShaderMaterial({
      glslVersion: GLSL3,
      transparent: true,
      depthTest: false,
      depthWrite: false,
      uniforms: {
        mask: { value: null },
        reach: { value: new Vector2() },
        amber: { value: new Color(AMBER).convertLinearToSRGB() },
      },
      vertexShader:
        "in vec3 position; out vec2 at;" +
        "void main() { at = 0.5 * position.xy + 0.5; gl_Position = vec4(position.xy, 0.0, 1.0); }",
      fragmentShader: /* glsl */ `
        precision highp float;
        uniform sampler2D mask;
        uniform vec2 reach;
        uniform vec3 amber;
        in vec2 at;
        out vec4 colour;
        void main() {
          float inside = texture(mask, at).r, most = 0.0;
          for (int i = 0; i < 8; i++) {
            float turn = 0.7853982 * float(i);
            most = max(most, texture(mask, at + reach * vec2(cos(turn), sin(turn))).r);
          }
          float edge = clamp(most - inside, 0.0, 1.0);
          colour = vec4(amber, max(edge, 0.06 * inside));
        }`,
    });
    this.screen.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    const mesh = new Mesh(this.screen, this.edge);
    mesh.frustumCulled = false;
    this.edgeScene.add(mesh);
  }

  /** Outlines these parts and joints of a figure. */
  select(figure: Figure | null, names: ReadonlySet<string>): void {
    for (const shape of this.shapes) {
      this.maskScene.remove(shape);
      shape.geometry.dispose();
      (shape.material as RawShaderMaterial).dispose();
    }
    this.shapes = [];
    this.figure = figure;
    const geometry = names.size ? figure?.selectionGeometry(names) : null;
    if (!figure || !geometry) return;
    const shape = new Mesh(geometry, maskMaterial(figure));
    shape.frustumCulled = false;
    this.shapes.push(shape);
    this.maskScene.add(shape);
  }

  /** Draws the outline over the image, if something is selected. */
  draw(renderer: WebGLRenderer, camera: PerspectiveCamera, ratio: number): void {
    if (!this.shapes.length) return;
    this.figure?.updateAll(renderer);
    const size = renderer.getDrawingBufferSize(new Vector2());
    if (this.mask.width !== size.x || this.mask.height !== size.y) this.mask.setSize(size.x, size.y);
    const clears = renderer.autoClear;
    const colour = renderer.getClearColor(new Color());
    const alpha = renderer.getClearAlpha();
    renderer.setRenderTarget(this.mask);
    renderer.setClearColor(0x000000, 0);
    renderer.clear();
    renderer.render(this.maskScene, camera);
    renderer.setRenderTarget(null);
    renderer.setClearColor(colour, alpha);
    renderer.autoClear = false;
    this.edge.uniforms.mask.value = this.mask.texture;
    this.edge.uniforms.reach.value.set((WIDTH_PX * ratio) / size.x, (WIDTH_PX * ratio) / size.y);
    renderer.render(this.edgeScene, camera);
    renderer.autoClear = clears;
  }

  dispose(): void {
    this.select(null, new Set());
    this.mask.dispose();
    this.edge.dispose();
    this.screen.dispose();
  }
}

function maskMaterial(figure: Figure): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    side: DoubleSide,
    uniforms: figure.allUniforms as never,
    vertexShader: /* glsl */ `
      precision highp float;
      precision highp int;
      precision highp sampler2D;
      uniform mat4 projectionMatrix, viewMatrix;
      uniform sampler2D places;
      uniform int stride;
      in float source;
      ${READ_ROW}
      void main() {
        vec3 at = rowOf(places, int(source) + gl_InstanceID * stride).xyz;
        gl_Position = projectionMatrix * viewMatrix * vec4(at, 1.0);
      }`,
    fragmentShader: "precision highp float; out vec4 colour; void main() { colour = vec4(1.0); }",
  });
}
