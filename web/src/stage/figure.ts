/** A described character as three.js meshes, or many instances of it. */
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
import { type Deformation, SkinnedDeformation } from "./deformation";
import { bindAll, bindDrawn, deformationUniforms } from "./deformed_material";
import { type Description, leadingJoints, type PartEntry } from "./description";
import { FORM, type Frame } from "./frames";
import { fillGeometry, joinPieces, makeIndex, type Piece, piecesOf } from "./lod_mesh";
import { type MaterialQuality, materialOf, shadowMaterial, TextureCache } from "./materials";
import { StreamedMesh } from "./streamed_mesh";
import { vertexLitMaterial } from "./vertex_lit_material";

export class Figure {
  readonly group = new Group();
  readonly deformation: Deformation;
  readonly uniforms = deformationUniforms(); // of the mesh that is drawn
  readonly allUniforms = deformationUniforms(); // of the full mesh: positions only, current after `updateAll`
  readonly wholeGeometry: InstancedBufferGeometry; // all triangles, for picking and outlines
  readonly mainJoints: Int32Array; // the joint with the largest weight at each drawn vertex
  private readonly textures: TextureCache;
  private readonly shadow = shadowMaterial(this.uniforms);
  private readonly geometries: InstancedBufferGeometry[] = [];
  private readonly materials: Material[] = [];
  private vertexLitMaterials: Material[] = []; // materials of the level of detail with software rendering
  private readonly meshes: Mesh[] = []; // in the order of the draws
  private lodGeometries: InstancedBufferGeometry[] = []; // geometries of the level of detail, empty without one
  private lodSolid: InstancedBufferGeometry | null = null; // the opaque part of the level of detail

  private constructor(
    readonly description: Description,
    textureSource: (texture: number) => string | Blob,
    count: number,
  ) {
    const streamed = description.form === FORM.vertices;
    this.deformation = streamed ? new StreamedMesh(description) : new SkinnedDeformation(description, count);
    this.textures = new TextureCache(textureSource);
    this.mainJoints = leadingJoints(description);
    this.wholeGeometry = new InstancedBufferGeometry();
    this.wholeGeometry.setAttribute("source", new BufferAttribute(Float32Array.from(this.deformation.sources), 1));
    this.wholeGeometry.setAttribute(
      "drawn",
      new BufferAttribute(
        Float32Array.from({ length: description.drawn }, (_, i) => i),
        1,
      ),
    );
    this.wholeGeometry.setIndex(
      new BufferAttribute(
        trianglesOf(description, () => true),
        1,
      ),
    );
    this.prepare(this.wholeGeometry);
    this.bindUniforms();
  }

  /** Builds a figure and loads its textures. */
  static async build(
    description: Description,
    textureSource: (texture: number) => string | Blob,
    quality: MaterialQuality,
    count = 1,
  ): Promise<Figure> {
    const figure = new Figure(description, textureSource, count);
    const painted = new Map<number, boolean>();
    for (const part of description.parts)
      for (const draw of part.draws) painted.set(draw.material, part.colours !== null);
    figure.materials.push(
      ...(await Promise.all(
        description.materials.map((entry, i) =>
          materialOf(entry, figure.textures, figure.uniforms, painted.get(i) ?? false, quality),
        ),
      )),
    );
    if (quality.isSoftware)
      figure.vertexLitMaterials = figure.materials.map((material, i) =>
        vertexLitMaterial(material, description.materials[i], figure.uniforms),
      );
    for (const part of description.parts) figure.addPart(part);
    return figure;
  }

  private addPart(part: PartEntry): void {
    const { description } = this;
    const sources = Float32Array.from(this.deformation.sources.subarray(part.start, part.start + part.count));
    const shared: Record<string, BufferAttribute> = {
      source: new BufferAttribute(sources, 1),
      // The shader does not read them, but three uses flat shading for meshes without normals.
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
        makeIndex(
          description.numbers(draw.triangles).map((vertex) => vertex - part.start),
          part.count,
        ),
      );
      this.prepare(geometry);
      this.geometries.push(geometry);
      const mesh = new Mesh(geometry, this.materials[draw.material]);
      const entry = description.materials[draw.material];
      mesh.name = part.name;
      mesh.frustumCulled = false; // positions are only known on the graphics card
      mesh.castShadow = entry.castsShadow && entry.alphaMode !== "BLEND";
      mesh.receiveShadow = !entry.unlit;
      mesh.customDepthMaterial = this.shadow;
      this.group.add(mesh);
      this.meshes.push(mesh);
    }
  }

  private prepare(geometry: InstancedBufferGeometry): void {
    geometry.instanceCount = this.deformation.count;
    geometry.boundingSphere = new Sphere(new Vector3(), Infinity); // prevents three from computing it
  }

  private bindUniforms(): void {
    bindDrawn(this.uniforms, this.deformation);
    bindAll(this.allUniforms, this.deformation);
  }

  /** Takes a frame; returns false if it belongs to another character. */
  accept(frame: Frame): boolean {
    if (!this.deformation.accept(frame)) return false;
    this.bindUniforms();
    for (const geometry of [this.wholeGeometry, ...this.geometries]) geometry.instanceCount = this.deformation.count;
    return true;
  }

  /** Sets a level of detail for motion: triangles for each part's draws. */
  setLod(draws: readonly (readonly Uint32Array[])[]): void {
    const { description } = this;
    const pieces = piecesOf(description, draws);
    if (!pieces) return;
    const all = joinPieces(pieces);
    const rows = this.deformation.setLod(all.vertices, all.triangles);
    const owners = description.parts.flatMap((part) => part.draws.map(({ material }) => ({ part, material })));
    const rowsOf = (i: number): Uint32Array => rows.subarray(all.starts[i], all.starts[i] + pieces[i].vertices.length);
    this.lodGeometries = pieces.map((piece, i) =>
      this.makeLodGeometry(this.geometries[i], owners[i].part.start, piece, rowsOf(i)),
    );
    const solid = pieces.flatMap((_, i) =>
      description.materials[owners[i].material].alphaMode === "BLEND" ? [] : [i],
    );
    const rest = joinPieces(solid.map((i) => pieces[i]));
    this.lodSolid = this.makeLodGeometry(
      new InstancedBufferGeometry(),
      0,
      rest,
      Uint32Array.from(solid.flatMap((i) => [...rowsOf(i)])),
    );
  }

  private makeLodGeometry(
    whole: InstancedBufferGeometry,
    start: number,
    piece: Piece,
    rows: Uint32Array,
  ): InstancedBufferGeometry {
    const geometry = new InstancedBufferGeometry();
    fillGeometry(geometry, whole, start, piece, rows);
    this.prepare(geometry);
    return geometry;
  }

  /**
   * Whether the level of detail is drawn, if there is one; with software rendering its materials are lit at the
   * vertices.
   */
  get usesLod(): boolean {
    return this.deformation.usesLod;
  }

  set usesLod(usesLod: boolean) {
    if (usesLod === this.usesLod || !this.lodGeometries.length) return;
    this.deformation.usesLod = usesLod;
    const draws = this.description.parts.flatMap((part) => part.draws);
    this.meshes.forEach((mesh, i) => {
      mesh.geometry = (usesLod ? this.lodGeometries : this.geometries)[i];
      mesh.material = (usesLod && this.vertexLitMaterials.length ? this.vertexLitMaterials : this.materials)[
        draws[i].material
      ];
    });
    this.bindUniforms();
  }

  /** The opaque triangles of the mesh that is drawn, for contact shadows. */
  get shadowGeometry(): InstancedBufferGeometry {
    return this.usesLod && this.lodSolid ? this.lodSolid : this.wholeGeometry;
  }

  update(renderer: WebGLRenderer): void {
    this.deformation.update(renderer);
  }

  /** Updates the positions of all vertices, for passes that ignore the level of detail. */
  updateAll(renderer: WebGLRenderer): void {
    this.deformation.updateAll(renderer);
  }

  /** A geometry with the triangles of these parts or joints; null without any. */
  selectionGeometry(names: ReadonlySet<string>): BufferGeometry | null {
    const { description, mainJoints } = this;
    const joints = new Set<number>();
    for (const [i, name] of description.joints.entries()) if (names.has(name)) joints.add(i);
    const parts = description.parts.filter((part) => names.has(part.name));
    const inPart = (v: number): boolean => parts.some((part) => v >= part.start && v < part.start + part.count);
    const index = trianglesOf(description, (a, b, c) => {
      if (parts.length && inPart(a)) return true;
      return joints.size > 0 && [a, b, c].filter((v) => joints.has(mainJoints[v])).length >= 2;
    });
    if (!index.length) return null;
    const geometry = new InstancedBufferGeometry();
    geometry.setAttribute("source", this.wholeGeometry.getAttribute("source"));
    geometry.setIndex(new BufferAttribute(index, 1));
    this.prepare(geometry);
    return geometry;
  }

  /** The current bounding box of these parts and joints; null without any. */
  bounds(names: ReadonlySet<string>, renderer: WebGLRenderer): { low: Vector3; high: Vector3 } | null {
    const geometry = this.selectionGeometry(names);
    const index = geometry?.getIndex();
    if (!geometry || !index) return null;
    const places = this.deformation.readPositions(renderer);
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
    this.textures.dispose();
    this.shadow.dispose();
    for (const resource of [
      this.wholeGeometry,
      this.lodSolid,
      ...this.geometries,
      ...this.lodGeometries,
      ...this.materials,
      ...this.vertexLitMaterials,
    ])
      resource?.dispose();
  }
}

/** The triangles that pass a test, as indices of drawn vertices. */
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
