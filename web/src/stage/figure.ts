/** Figure: one described character as three.js draws it, or many of it at once. */
import {
  BufferAttribute,
  type BufferGeometry,
  Group,
  InstancedBufferGeometry,
  type Material,
  Mesh,
  Sphere,
  Vector3,
  type WebGLRenderer,
} from "three";
import { type Deformation, Skinned } from "./deformation";
import { placingUniforms, pointAt, pointAtAll } from "./deformed_material";
import { type Description, leadingJoints, type PartEntry } from "./description";
import { FORM, type Frame } from "./frames";
import { fill, indexOf, joined, type Piece, piecesOf } from "./lod_mesh";
import { type Finesse, materialOf, Pictures, shadowMaterial } from "./materials";
import { Streamed } from "./streamed_mesh";
import { swiftOf } from "./vertex_lit_material";

export class Figure {
  readonly group = new Group();
  readonly deformation: Deformation;
  readonly uniforms = placingUniforms(); // of what is drawn now
  readonly all = placingUniforms(); // of every vertex: places alone, and after `updateAll`
  readonly whole: InstancedBufferGeometry; // every triangle: for picking and outlines
  readonly leads: Int32Array; // the joint that moves each drawn vertex most
  private readonly pictures: Pictures;
  private readonly shadow = shadowMaterial(this.uniforms);
  private readonly geometries: InstancedBufferGeometry[] = [];
  private readonly materials: Material[] = [];
  private swift: Material[] = []; // the same for the sketch, where the processor draws
  private readonly meshes: Mesh[] = []; // in the order of the draws
  private few: InstancedBufferGeometry[] = []; // the same of the sketch, where there is one
  private scant: InstancedBufferGeometry | null = null; // all that is solid of it

  private constructor(
    readonly description: Description,
    urlOfTexture: (picture: number) => string,
    count: number,
  ) {
    const streamed = description.form === FORM.vertices;
    this.deformation = streamed ? new Streamed(description) : new Skinned(description, count);
    this.pictures = new Pictures(urlOfTexture);
    this.leads = leadingJoints(description);
    this.whole = new InstancedBufferGeometry();
    this.whole.setAttribute("source", new BufferAttribute(Float32Array.from(this.deformation.sources), 1));
    this.whole.setAttribute(
      "drawn",
      new BufferAttribute(
        Float32Array.from({ length: description.drawn }, (_, i) => i),
        1,
      ),
    );
    this.whole.setIndex(
      new BufferAttribute(
        trianglesOf(description, () => true),
        1,
      ),
    );
    this.prepare(this.whole);
    this.point();
  }

  /** Builds a figure, pictures and all. */
  static async build(
    description: Description,
    urlOfTexture: (picture: number) => string,
    finesse: Finesse,
    count = 1,
  ): Promise<Figure> {
    const figure = new Figure(description, urlOfTexture, count);
    const painted = new Map<number, boolean>();
    for (const part of description.parts)
      for (const draw of part.draws) painted.set(draw.material, part.colours !== null);
    figure.materials.push(
      ...(await Promise.all(
        description.materials.map((entry, i) =>
          materialOf(entry, figure.pictures, figure.uniforms, painted.get(i) ?? false, finesse),
        ),
      )),
    );
    if (finesse.frugal)
      figure.swift = figure.materials.map((each, i) => swiftOf(each, description.materials[i], figure.uniforms));
    for (const part of description.parts) figure.addPart(part);
    return figure;
  }

  private addPart(part: PartEntry): void {
    const { description } = this;
    const sources = Float32Array.from(this.deformation.sources.subarray(part.start, part.start + part.count));
    const shared: Record<string, BufferAttribute> = {
      source: new BufferAttribute(sources, 1),
      // never read, but three draws flat what has no normals
      normal: new BufferAttribute(description.normals.subarray(3 * part.start, 3 * (part.start + part.count)), 3),
    };
    part.uvs.forEach((uv, i) => {
      shared[i ? `uv${i}` : "uv"] = new BufferAttribute(description.floats(uv), 2);
    });
    if (part.colours) shared.color = new BufferAttribute(description.floats(part.colours), 4);
    for (const draw of part.draws) {
      const geometry = new InstancedBufferGeometry();
      for (const [name, attribute] of Object.entries(shared)) geometry.setAttribute(name, attribute);
      geometry.setIndex(
        indexOf(
          description.numbers(draw.triangles).map((vertex) => vertex - part.start),
          part.count,
        ),
      );
      this.prepare(geometry);
      this.geometries.push(geometry);
      const mesh = new Mesh(geometry, this.materials[draw.material]);
      const entry = description.materials[draw.material];
      mesh.name = part.name;
      mesh.frustumCulled = false; // where the vertices are, only the graphics card knows
      mesh.castShadow = entry.castsShadow && entry.alphaMode !== "BLEND";
      mesh.receiveShadow = !entry.unlit;
      mesh.customDepthMaterial = this.shadow;
      this.group.add(mesh);
      this.meshes.push(mesh);
    }
  }

  private prepare(geometry: InstancedBufferGeometry): void {
    geometry.instanceCount = this.deformation.count;
    geometry.boundingSphere = new Sphere(new Vector3(), Infinity); // never asked for, and never computed
  }

  private point(): void {
    pointAt(this.uniforms, this.deformation);
    pointAtAll(this.all, this.deformation);
  }

  /** Takes a frame over; false where it is of another character. */
  accept(frame: Frame): boolean {
    if (!this.deformation.accept(frame)) return false;
    this.point();
    for (const geometry of [this.whole, ...this.geometries]) geometry.instanceCount = this.deformation.count;
    return true;
  }

  /** Gives it fewer triangles to draw while it moves: those of each part's draws. */
  sketch(draws: readonly (readonly Uint32Array[])[]): void {
    const { description } = this;
    const pieces = piecesOf(description, draws);
    if (!pieces) return;
    const all = joined(pieces);
    const rows = this.deformation.sketch(all.vertices, all.triangles);
    const owners = description.parts.flatMap((part) => part.draws.map(({ material }) => ({ part, material })));
    const rowsOf = (i: number): Uint32Array => rows.subarray(all.starts[i], all.starts[i] + pieces[i].vertices.length);
    this.few = pieces.map((piece, i) => this.filled(this.geometries[i], owners[i].part.start, piece, rowsOf(i)));
    const solid = pieces.flatMap((_, i) =>
      description.materials[owners[i].material].alphaMode === "BLEND" ? [] : [i],
    );
    const rest = joined(solid.map((i) => pieces[i]));
    this.scant = this.filled(
      new InstancedBufferGeometry(),
      0,
      rest,
      Uint32Array.from(solid.flatMap((i) => [...rowsOf(i)])),
    );
  }

  private filled(
    whole: InstancedBufferGeometry,
    start: number,
    piece: Piece,
    rows: Uint32Array,
  ): InstancedBufferGeometry {
    const geometry = new InstancedBufferGeometry();
    fill(geometry, whole, start, piece, rows);
    this.prepare(geometry);
    return geometry;
  }

  /**
   * Whether it is drawn with fewer triangles, where there are such, and there with light at their corners where the
   * processor draws.
   */
  get sketched(): boolean {
    return this.deformation.sketched;
  }

  set sketched(sketched: boolean) {
    if (sketched === this.sketched || !this.few.length) return;
    this.deformation.sketched = sketched;
    const draws = this.description.parts.flatMap((part) => part.draws);
    this.meshes.forEach((mesh, i) => {
      mesh.geometry = (sketched ? this.few : this.geometries)[i];
      mesh.material = (sketched && this.swift.length ? this.swift : this.materials)[draws[i].material];
    });
    this.point();
  }

  /** All that is solid, with as many triangles as are drawn now: for contact shadows. */
  get rough(): InstancedBufferGeometry {
    return this.sketched && this.scant ? this.scant : this.whole;
  }

  update(renderer: WebGLRenderer): void {
    this.deformation.update(renderer);
  }

  /** Brings every vertex up to date, for what knows no sketch. */
  updateAll(renderer: WebGLRenderer): void {
    this.deformation.updateAll(renderer);
  }

  /** A geometry of the triangles that belong to any of these parts or joints; null where there are none. */
  selected(names: ReadonlySet<string>): BufferGeometry | null {
    const { description, leads } = this;
    const joints = new Set<number>();
    for (const [i, name] of description.joints.entries()) if (names.has(name)) joints.add(i);
    const parts = description.parts.filter((part) => names.has(part.name));
    const inPart = (v: number): boolean => parts.some((part) => v >= part.start && v < part.start + part.count);
    const index = trianglesOf(description, (a, b, c) => {
      if (parts.length && inPart(a)) return true;
      return joints.size > 0 && [a, b, c].filter((v) => joints.has(leads[v])).length >= 2;
    });
    if (!index.length) return null;
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("source", this.whole.getAttribute("source"));
    geometry.setIndex(new BufferAttribute(index, 1));
    this.prepare(geometry);
    return geometry;
  }

  /** The corners of the room that these parts and joints take now; null where there are none. */
  box(names: ReadonlySet<string>, renderer: WebGLRenderer): { low: Vector3; high: Vector3 } | null {
    const geometry = this.selected(names);
    const index = geometry?.getIndex();
    if (!geometry || !index) return null;
    const places = this.deformation.read(renderer);
    const low = new Vector3(Infinity, Infinity, Infinity);
    const high = low.clone().negate();
    const point = new Vector3();
    for (let i = 0; i < index.count; i++) {
      point.fromArray(places, 3 * this.deformation.sources[index.getX(i)]);
      low.min(point);
      high.max(point);
    }
    geometry.dispose();
    return { low, high };
  }

  dispose(): void {
    this.deformation.dispose();
    this.pictures.dispose();
    this.shadow.dispose();
    for (const each of [this.whole, this.scant, ...this.geometries, ...this.few, ...this.materials, ...this.swift])
      each?.dispose();
  }
}

/** The triangles that pass a test, in numbers of drawn vertices. */
function trianglesOf(description: Description, keep: (a: number, b: number, c: number) => boolean): Uint32Array {
  const kept: number[] = [];
  for (const part of description.parts)
    for (const draw of part.draws) {
      if (description.materials[draw.material].alphaMode === "BLEND") continue;
      const numbers = description.numbers(draw.triangles);
      for (let i = 0; i < numbers.length; i += 3)
        if (keep(numbers[i], numbers[i + 1], numbers[i + 2])) kept.push(numbers[i], numbers[i + 1], numbers[i + 2]);
    }
  return Uint32Array.from(kept);
}
