/** The still part of the map, cached as a texture: only the particle moves, and is drawn over it. */
import {
  BufferAttribute,
  BufferGeometry,
  type Camera,
  FramebufferTexture,
  GLSL3,
  Mesh,
  NoBlending,
  RawShaderMaterial,
  Scene,
  Vector2,
  type WebGLRenderer,
} from "three";

export class MapBackground {
  private texture: FramebufferTexture | null = null;
  private readonly scene = new Scene();
  private readonly size = new Vector2();
  private readonly screen = new BufferGeometry();
  private readonly material = new RawShaderMaterial({
    glslVersion: GLSL3,
    blending: NoBlending,
    depthTest: false,
    depthWrite: false,
    uniforms: { picture: { value: null } },
    vertexShader: "in vec3 position; void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }",
    fragmentShader: `
      precision highp float;
      uniform sampler2D picture;
      out vec4 colour;
      void main() { colour = texelFetch(picture, ivec2(gl_FragCoord.xy), 0); }`,
  });

  constructor() {
    this.screen.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    const mesh = new Mesh(this.screen, this.material);
    mesh.frustumCulled = false;
    this.scene.add(mesh);
  }

  /** Captures the image that was just drawn. */
  capture(renderer: WebGLRenderer): void {
    const { x, y } = renderer.getDrawingBufferSize(this.size);
    let { texture } = this;
    if (!texture || texture.image.width !== x || texture.image.height !== y) {
      texture?.dispose();
      texture = new FramebufferTexture(x, y);
      this.texture = texture;
    }
    renderer.copyFramebufferToTexture(texture);
    this.material.uniforms.picture.value = texture;
  }

  /** Draws the captured image. */
  draw(renderer: WebGLRenderer, camera: Camera): void {
    renderer.render(this.scene, camera);
  }
}
