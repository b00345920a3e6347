/** Contact shadows: the parts close to the ground, rendered from below and blurred. */
import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  GLSL3,
  LinearFilter,
  Mesh,
  OrthographicCamera,
  RawShaderMaterial,
  Scene,
  type Texture,
  Vector2,
  Vector3,
  type WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import { READ_ROW } from "./data_textures";
import type { DeformationUniforms } from "./deformed_material";
import type { Figure } from "./figure";

const SIZE_PX = 160; // the blur hides the low resolution
const REACH_RATIO = 0.16; // of the figure's size; higher parts cast no contact shadow

const BLUR = /* glsl */ `
precision highp float;
uniform sampler2D picture;
uniform vec2 step;
in vec2 at;
out vec4 colour;
void main() {
  float sum = 0.0, weights = 0.0;
  for (int i = -5; i <= 5; i++) {
    float w = exp(-0.12 * float(i * i));
    sum += w * texture(picture, at + float(i) * step).r;
    weights += w;
  }
  colour = vec4(sum / weights);
}`;

export class ContactShadow {
  readonly low = new Vector2();
  readonly size = new Vector2(1, 1);
  private readonly sharp = target();
  private readonly soft = target();
  private readonly camera = new OrthographicCamera();
  private readonly scene = new Scene();
  private readonly blurScene = new Scene();
  private readonly blur: RawShaderMaterial;
  private readonly screen = new BufferGeometry();
  private shape: Mesh | null = null;
  private figure: Figure | null = null;

  constructor() {
    this.blur = new RawShaderMaterial({
      glslVersion: GLSL3,
      depthTest: false,
      depthWrite: false,
      uniforms: { picture: { value: null }, step: { value: new Vector2() } },
      vertexShader:
        "in vec3 position; out vec2 at;" +
        "void main() { at = 0.5 * position.xy + 0.5; gl_Position = vec4(position.xy, 0.0, 1.0); }",
      fragmentShader: BLUR,
    });
    this.screen.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    const mesh = new Mesh(this.screen, this.blur);
    mesh.frustumCulled = false;
    this.blurScene.add(mesh);
  }

  get texture(): Texture {
    return this.soft.texture;
  }

  /** Sets the figure that casts the shadow, and its bounding box. */
  show(figure: Figure | null, low: Vector3, high: Vector3): void {
    if (this.shape) {
      this.scene.remove(this.shape);
      (this.shape.material as RawShaderMaterial).dispose();
      this.shape = null;
    }
    this.figure = figure;
    if (!figure) return;
    this.shape = new Mesh(figure.shadowGeometry, heightMaterial(figure.uniforms));
    this.shape.frustumCulled = false;
    this.scene.add(this.shape);
    const size = Math.max(high.x - low.x, high.y - low.y, high.z - low.z, 1e-6);
    const margin = 0.35 * size;
    this.low.set(low.x - margin, low.z - margin);
    this.size.set(high.x - low.x + 2 * margin, high.z - low.z + 2 * margin);
    const { camera } = this;
    // The camera looks up from the ground: right is +x and up is +z, so the image has the orientation of the ground.
    camera.left = -this.size.x / 2;
    camera.right = this.size.x / 2;
    camera.bottom = -this.size.y / 2;
    camera.top = this.size.y / 2;
    camera.near = 0;
    camera.far = REACH_RATIO * size + 0.02 * size;
    camera.position.set(this.low.x + this.size.x / 2, low.y - 0.02 * size, this.low.y + this.size.y / 2);
    camera.up.set(0, 0, 1);
    camera.lookAt(camera.position.x, camera.position.y + 1, camera.position.z);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }

  /** Renders the shadow. */
  update(renderer: WebGLRenderer): void {
    if (!this.shape || !this.figure) return;
    this.shape.geometry = this.figure.shadowGeometry;
    const before = renderer.getRenderTarget();
    const colour = renderer.getClearColor(new Color());
    const alpha = renderer.getClearAlpha();
    renderer.setClearColor(0x000000, 0);
    renderer.setRenderTarget(this.sharp);
    renderer.clear();
    renderer.render(this.scene, this.camera);
    this.pass(renderer, this.sharp.texture, this.soft, 2.2 / SIZE_PX, 0);
    this.pass(renderer, this.soft.texture, this.sharp, 0, 2.2 / SIZE_PX);
    this.pass(renderer, this.sharp.texture, this.soft, 0.9 / SIZE_PX, 0.9 / SIZE_PX);
    renderer.setRenderTarget(before);
    renderer.setClearColor(colour, alpha);
  }

  private pass(renderer: WebGLRenderer, from: Texture, to: WebGLRenderTarget, x: number, y: number): void {
    this.blur.uniforms.picture.value = from;
    this.blur.uniforms.step.value.set(x, y);
    renderer.setRenderTarget(to);
    renderer.render(this.blurScene, this.camera);
  }

  dispose(): void {
    this.show(null, new Vector3(), new Vector3());
    this.sharp.dispose();
    this.soft.dispose();
    this.blur.dispose();
    this.screen.dispose();
  }
}

function target(): WebGLRenderTarget {
  return new WebGLRenderTarget(SIZE_PX, SIZE_PX, { minFilter: LinearFilter, magFilter: LinearFilter });
}

/** Opaque at the ground, transparent at the reach. */
function heightMaterial(uniforms: DeformationUniforms): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    side: DoubleSide,
    uniforms: uniforms as never,
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
    fragmentShader: /* glsl */ `
      precision highp float;
      out vec4 colour;
      void main() { float high = 1.0 - gl_FragCoord.z; colour = vec4(high * high); }`,
  });
}
