/** glTF materials as three.js materials, with soft skin. */
import {
  ClampToEdgeWrapping,
  Color,
  DoubleSide,
  FrontSide,
  LinearFilter,
  LinearMipmapLinearFilter,
  LinearMipmapNearestFilter,
  type Material,
  MeshBasicMaterial,
  MeshDepthMaterial,
  MeshPhysicalMaterial,
  MeshStandardMaterial,
  MirroredRepeatWrapping,
  NearestFilter,
  NoColorSpace,
  RepeatWrapping,
  ShaderChunk,
  SRGBColorSpace,
  Texture,
  type Wrapping,
} from "three";
import { type DeformationUniforms, deformedMaterial } from "./deformed_material";
import type { MaterialEntry, TextureUse } from "./description";

const WRAPS: Record<number, Wrapping> = {
  33071: ClampToEdgeWrapping,
  33648: MirroredRepeatWrapping,
  10497: RepeatWrapping,
};

/** How expensive materials may be. */
export interface MaterialQuality {
  anisotropy: number;
  /** Software rendering: cheaper texture filters, and only wet materials reflect the environment. */
  isSoftware: boolean;
  room: Texture; // environment map of a room
}

export const ROOM_LIGHT = 0.25; // intensity of the environment, beside the lights

/** Loads each image once; it is uploaded once for colour and once for other data. */
export class TextureCache {
  private readonly loaded = new Map<number, Promise<ImageBitmap | null>>();
  private readonly textures = new Map<string, Texture>();

  constructor(private readonly source: (texture: number) => string | Blob) {}

  async texture(use: TextureUse, colours: boolean, quality: MaterialQuality): Promise<Texture | null> {
    const key = JSON.stringify([use, colours]);
    const known = this.textures.get(key);
    if (known) return known;
    const image = await this.image(use.image);
    if (!image) return null;
    const texture = new Texture(image);
    texture.flipY = false;
    texture.colorSpace = colours ? SRGBColorSpace : NoColorSpace;
    texture.wrapS = WRAPS[use.wrap[0]] ?? RepeatWrapping;
    texture.wrapT = WRAPS[use.wrap[1]] ?? RepeatWrapping;
    texture.magFilter = use.nearest ? NearestFilter : LinearFilter;
    const smooth = quality.isSoftware ? LinearMipmapNearestFilter : LinearMipmapLinearFilter;
    texture.minFilter = use.nearest ? NearestFilter : smooth;
    texture.generateMipmaps = !use.nearest;
    texture.anisotropy = quality.anisotropy;
    texture.channel = use.uv;
    texture.offset.fromArray(use.offset);
    texture.repeat.fromArray(use.stretch);
    texture.rotation = use.turn;
    texture.needsUpdate = true;
    this.textures.set(key, texture);
    return texture;
  }

  private image(number: number): Promise<ImageBitmap | null> {
    let promise = this.loaded.get(number);
    if (!promise) {
      promise = loadImage(this.source(number));
      this.loaded.set(number, promise);
    }
    return promise;
  }

  dispose(): void {
    for (const texture of this.textures.values()) texture.dispose();
    this.textures.clear();
  }
}

/** Loads an image. If that fails, the surface stays plain and the character is shown all the same. */
async function loadImage(source: string | Blob): Promise<ImageBitmap | null> {
  try {
    const blob = typeof source === "string" ? await fetchImage(source) : source;
    return blob && (await createImageBitmap(blob, { colorSpaceConversion: "none", premultiplyAlpha: "none" }));
  } catch {
    return null;
  }
}

async function fetchImage(url: string): Promise<Blob | null> {
  const answer = await fetch(url);
  return answer.ok ? answer.blob() : null;
}

/** The material of an entry, for meshes with or without vertex colours. */
export async function materialOf(
  entry: MaterialEntry,
  textures: TextureCache,
  uniforms: DeformationUniforms,
  vertexColors: boolean,
  quality: MaterialQuality,
): Promise<Material> {
  const use = entry.textures;
  const [map, normalMap, roughnessMap, aoMap, emissiveMap] = await Promise.all([
    use.colour ? textures.texture(use.colour, true, quality) : null,
    use.normal ? textures.texture(use.normal, false, quality) : null,
    use.metallic_roughness ? textures.texture(use.metallic_roughness, false, quality) : null,
    use.occlusion ? textures.texture(use.occlusion, false, quality) : null,
    use.emissive ? textures.texture(use.emissive, true, quality) : null,
  ]);
  const common = {
    name: entry.name,
    color: new Color().setRGB(entry.colour[0], entry.colour[1], entry.colour[2]),
    opacity: entry.alphaMode === "OPAQUE" ? 1 : entry.colour[3],
    transparent: entry.alphaMode === "BLEND",
    depthWrite: entry.alphaMode !== "BLEND",
    alphaTest: entry.alphaMode === "MASK" ? entry.alphaCutoff : 0,
    side: entry.doubleSided ? DoubleSide : FrontSide,
    vertexColors,
    map,
  };
  if (entry.unlit) return deformedMaterial(new MeshBasicMaterial({ ...common, toneMapped: false }), uniforms, "unlit");
  const standard = {
    ...common,
    metalness: entry.metallic,
    roughness: entry.roughness,
    roughnessMap,
    metalnessMap: entry.metallic > 0 ? roughnessMap : null, // has no effect when the factor is 0
    aoMap,
    aoMapIntensity: use.occlusion?.scale ?? 1,
    normalMap,
    emissive: new Color().setRGB(...entry.emissive),
    emissiveMap,
  };
  const sheen = entry.sheen.some((x) => x > 0);
  const fancy = entry.clearcoat > 0 || (!quality.isSoftware && (entry.specular < 1 || sheen));
  const material = fancy
    ? new MeshPhysicalMaterial({
        ...standard,
        specularIntensity: entry.specular,
        clearcoat: entry.clearcoat,
        clearcoatRoughness: entry.clearcoatRoughness,
        sheen: sheen && !quality.isSoftware ? 1 : 0,
        sheenColor: new Color().setRGB(...entry.sheen),
        sheenRoughness: 0.6,
      })
    : new MeshStandardMaterial(standard);
  if (quality.isSoftware && entry.clearcoat > 0) {
    material.envMap = quality.room;
    material.envMapIntensity = ROOM_LIGHT;
  }
  if (normalMap) material.normalScale.setScalar(use.normal?.scale ?? 1);
  if (entry.softness <= 0 && entry.translucency <= 0) return deformedMaterial(material, uniforms, "hard");
  const skinUniforms = { softness: { value: entry.softness }, through: { value: entry.translucency } };
  return deformedMaterial(material, uniforms, "soft", (shader) => {
    Object.assign(shader.uniforms, skinUniforms); // as uniforms, so that soft materials share their programs
    soften(shader);
  });
}

/**
 * Skin: diffuse light wraps around the form, redder at the terminator; thin parts let light through from behind.
 *
 *     irradiance = (n.l + w) / (1 + w)^2,  w = 0.3 softness;      green and blue wrap less than red
 */
export const SOFT_LIGHT = /* glsl */ `
uniform float softness, through;
vec3 softLight( const in float rawNL ) {
	vec3 wrap = 0.3 * softness * vec3( 1.0, 0.45, 0.3 );
	return saturate( ( rawNL + wrap ) / ( ( 1.0 + wrap ) * ( 1.0 + wrap ) ) ) + through * saturate( - rawNL );
}
`;

/** Replaces three's diffuse direct light by that of skin. */
export function soften(shader: { fragmentShader: string }): void {
  const soft = /* glsl */ `vec3 irradiance = dotNL * directLight.color;
	vec3 softIrradiance = softLight( dot( geometryNormal, directLight.direction ) ) * directLight.color;`;
  const lights = ShaderChunk.lights_physical_pars_fragment
    .replace("vec3 irradiance = dotNL * directLight.color;", soft)
    .replace("directDiffuse += irradiance * diffuseBRDF", "directDiffuse += softIrradiance * diffuseBRDF");
  shader.fragmentShader = shader.fragmentShader.replace(
    "#include <lights_physical_pars_fragment>",
    `${SOFT_LIGHT}${lights}`,
  );
}

/** The material of the shadow pass. */
export function shadowMaterial(uniforms: DeformationUniforms): MeshDepthMaterial {
  return deformedMaterial(new MeshDepthMaterial(), uniforms, "shadow");
}
