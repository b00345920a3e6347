/** Deformation: the positions and normals of a character's vertices, in two tables on the graphics card. */
import {
  BufferAttribute,
  BufferGeometry,
  type DataTexture,
  FloatType,
  GLSL3,
  Mesh,
  NearestFilter,
  OrthographicCamera,
  RawShaderMaterial,
  Scene,
  type Texture,
  type WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import { LINE_TEXELS, lineCount, makeTable, tableData, tableFrom } from "./data_textures";
import { DEFORM_FRAGMENT, DEFORM_VERTEX } from "./deform_shader";
import type { Description } from "./description";
import { DUAL_FLOATS, writeDual } from "./dual";
import { FORM, type Frame } from "./frames";

export interface Deformation {
  readonly positionTexture: Texture; // of the mesh that is drawn
  readonly normalTexture: Texture;
  readonly allPositions: Texture; // of the full mesh, also while a level of detail is drawn
  readonly vertices: number; // table rows of one instance
  readonly count: number; // instances
  /** The row of each drawn vertex in the table of all positions. */
  readonly sources: Uint32Array;
  /** Takes a frame; returns false if it belongs to another character. */
  accept(frame: Frame): boolean;
  /** Updates the tables of the drawn mesh; call it before drawing. */
  update(renderer: WebGLRenderer): void;
  /** Updates the table of all positions. */
  updateAll(renderer: WebGLRenderer): void;
  /** Marks all tables for upload, after the graphics context was lost. */
  refresh(): void;
  /**
   * Sets the level of detail: its drawn vertices, and triangles of indices into them. Returns the table row of each of
   * these vertices while `usesLod` is set.
   */
  setLod(vertices: Uint32Array, triangles: Uint32Array): Uint32Array;
  usesLod: boolean;
  /** Reads the positions back from the graphics card, three numbers a row: slow, for measuring. */
  readPositions(renderer: WebGLRenderer): Float32Array;
  dispose(): void;
}

/**
 * Skinning on the graphics card: shape targets, then linear or dual quaternion skinning, in one pass over all vertices.
 */
export class SkinnedDeformation implements Deformation {
  readonly vertices: number;
  readonly sources: Uint32Array;
  usesLod = false;
  private readonly poseRows: number;
  private readonly hasDual: boolean;
  private readonly tables: DataTexture[];
  private pose: DataTexture;
  private duals: DataTexture;
  private target: WebGLRenderTarget;
  private stale = true;
  private readonly material: RawShaderMaterial;
  private readonly scene = new Scene();
  private readonly camera = new OrthographicCamera();
  private readonly triangle = new BufferGeometry();

  constructor(
    private readonly description: Description,
    public count = 1,
  ) {
    const { drawn, bones, weights } = description;
    this.vertices = Math.max(1, drawn);
    this.sources = Uint32Array.from({ length: drawn }, (_, i) => i);
    this.poseRows = 3 * bones.length + Math.ceil(weights / 4);
    this.hasDual = description.parts.some((part) => part.dual);
    const names = ["rest", "restNormal", "plan", "influences", "targets", "turns"] as const;
    const filledTables = [
      tableFrom(widenRows(description.positions, 3), 4),
      tableFrom(widenRows(description.normals, 3), 4),
      tableFrom(vertexPlan(description), 4),
      tableFrom(influencesOf(description), 4),
      ...targetsOf(description).map((numbers) => tableFrom(numbers, 4)),
    ];
    this.tables = filledTables;
    this.pose = this.duals = filledTables[0]; // placeholders until `layOut`
    this.target = new WebGLRenderTarget(1, 1);
    this.material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: DEFORM_VERTEX,
      fragmentShader: DEFORM_FRAGMENT,
      depthTest: false,
      depthWrite: false,
      uniforms: {
        ...Object.fromEntries(names.map((name, i) => [name, { value: filledTables[i] }])),
        vertices: { value: this.vertices },
        total: { value: 0 },
        bones: { value: bones.length },
        poseRows: { value: this.poseRows },
        pose: { value: null },
        duals: { value: null },
      },
    });
    this.triangle.setAttribute("position", new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    const screen = new Mesh(this.triangle, this.material);
    screen.frustumCulled = false;
    this.scene.add(screen);
    this.layOut(count);
    for (let i = 0; i < count; i++) this.setPose(i, description.rest, 0);
  }

  get positionTexture(): Texture {
    return this.target.textures[0];
  }

  get normalTexture(): Texture {
    return this.target.textures[1];
  }

  get allPositions(): Texture {
    return this.positionTexture;
  }

  accept(frame: Frame): boolean {
    const floats = 12 * this.description.bones.length + this.description.weights;
    if (frame.form === FORM.joints) {
      if (this.count !== 1 || 12 * frame.a + frame.b !== floats) return false;
      this.setPose(0, frame.values, 0);
      return true;
    }
    if (frame.form !== FORM.crowd || frame.b !== floats) return false;
    if (frame.a !== this.count) this.layOut(frame.a);
    for (let i = 0; i < frame.a; i++) this.setPose(i, frame.values, i * frame.b);
    return true;
  }

  /** Allocates the tables for a number of instances. */
  private layOut(count: number): void {
    this.count = count;
    if (this.pose !== this.tables[0]) this.pose.dispose();
    if (this.duals !== this.tables[0]) this.duals.dispose();
    this.target.dispose();
    this.pose = makeTable(Math.max(1, count * this.poseRows), 4);
    this.duals = this.hasDual ? makeTable(count * this.description.bones.length * 5, 4) : this.pose;
    this.target = new WebGLRenderTarget(LINE_TEXELS, lineCount(count * this.vertices), {
      count: 2,
      type: FloatType,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
      depthBuffer: false,
    });
    const { uniforms } = this.material;
    uniforms.pose.value = this.pose;
    uniforms.duals.value = this.duals;
    uniforms.total.value = count * this.description.drawn;
  }

  private setPose(instance: number, values: Float32Array, from: number): void {
    const { bones, weights } = this.description;
    const floats = 12 * bones.length + weights;
    tableData(this.pose).set(values.subarray(from, from + floats), 4 * instance * this.poseRows);
    this.pose.needsUpdate = true;
    if (this.hasDual) {
      const out = tableData(this.duals);
      for (let b = 0; b < bones.length; b++)
        writeDual(values, from + 12 * b, out, DUAL_FLOATS * (instance * bones.length + b));
      this.duals.needsUpdate = true;
    }
    this.stale = true;
  }

  update(renderer: WebGLRenderer): void {
    if (!this.stale || !this.description.drawn) return;
    this.stale = false;
    const before = renderer.getRenderTarget();
    const clears = renderer.autoClear;
    renderer.autoClear = false;
    renderer.setRenderTarget(this.target);
    renderer.render(this.scene, this.camera);
    renderer.setRenderTarget(before);
    renderer.autoClear = clears;
  }

  refresh(): void {
    this.stale = true;
  }

  updateAll(renderer: WebGLRenderer): void {
    this.update(renderer);
  }

  setLod(vertices: Uint32Array): Uint32Array {
    return vertices; // the graphics card deforms all vertices in any case
  }

  readPositions(renderer: WebGLRenderer): Float32Array {
    this.update(renderer);
    const rows = this.count * this.description.drawn;
    const pixels = new Float32Array(4 * LINE_TEXELS * this.target.height);
    renderer.readRenderTargetPixels(this.target, 0, 0, LINE_TEXELS, this.target.height, pixels);
    const result = new Float32Array(3 * rows);
    for (let i = 0; i < rows; i++) for (let c = 0; c < 3; c++) result[3 * i + c] = pixels[4 * i + c];
    return result;
  }

  dispose(): void {
    for (const texture of new Set([...this.tables, this.pose, this.duals])) texture.dispose();
    this.target.dispose();
    this.material.dispose();
    this.triangle.dispose();
  }
}

/** Pads rows of `width` numbers to four. */
function widenRows(numbers: Float32Array, width: number): Float32Array {
  const rows = numbers.length / width;
  const result = new Float32Array(4 * rows);
  for (let i = 0; i < rows; i++) for (let c = 0; c < width; c++) result[4 * i + c] = numbers[width * i + c];
  return result;
}

/** For each vertex: first influence, influence count (negative for dual quaternions), first target, target count. */
export function vertexPlan(description: Description): Float32Array {
  const { drawn, influences, targets, parts } = description;
  const result = new Float32Array(4 * drawn);
  for (let v = 0; v < drawn; v++) {
    result[4 * v] = influences.first[v];
    result[4 * v + 1] = influences.first[v + 1] - influences.first[v];
    result[4 * v + 2] = targets.first[v];
    result[4 * v + 3] = targets.first[v + 1] - targets.first[v];
  }
  for (const part of parts)
    if (part.dual) for (let v = part.start; v < part.start + part.count; v++) result[4 * v + 1] *= -1;
  return result;
}

function influencesOf(description: Description): Float32Array {
  const { number, value } = description.influences;
  const result = new Float32Array(4 * number.length);
  for (let i = 0; i < number.length; i++) {
    result[4 * i] = number[i];
    result[4 * i + 1] = value[i];
  }
  return result;
}

/** The offsets of shape targets: position (with the target's index) and normal. */
function targetsOf(description: Description): [Float32Array, Float32Array] {
  const { number, value } = description.targets;
  const moves = new Float32Array(4 * number.length);
  const turns = new Float32Array(4 * number.length);
  for (let i = 0; i < number.length; i++) {
    for (let c = 0; c < 3; c++) {
      moves[4 * i + c] = value[6 * i + c];
      turns[4 * i + c] = value[6 * i + 3 + c];
    }
    moves[4 * i + 3] = number[i];
  }
  return [moves, turns];
}
