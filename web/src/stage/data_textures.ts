/** Tables of numbers on the graphics card: textures that are read by row number, 2048 rows a line. */
import { DataTexture, FloatType, NearestFilter, type PixelFormat, RGBAFormat, RGBFormat } from "three";

export const LINE = 2048; // texels; every WebGL2 card has textures of this width

/** The lines that a table of so many rows takes. */
export function lines(rows: number): number {
  return Math.max(1, Math.ceil(rows / LINE));
}

/** GLSL to read row `i` of a table. */
export const READ = /* glsl */ `
vec4 rowOf(highp sampler2D table, int i) { return texelFetch(table, ivec2(i & ${LINE - 1}, i >> 11), 0); }
`;

/** A table of `rows` rows of three or four numbers each. */
export function table(rows: number, width: 3 | 4): DataTexture {
  const format: PixelFormat = width === 4 ? RGBAFormat : RGBFormat;
  const height = lines(rows);
  const texture = new DataTexture(new Float32Array(LINE * height * width), LINE, height, format, FloatType);
  texture.minFilter = texture.magFilter = NearestFilter;
  if (width === 3) texture.internalFormat = "RGB32F";
  texture.needsUpdate = true;
  return texture;
}

/** The numbers of a table. */
export function numbersOf(texture: DataTexture): Float32Array {
  return texture.image.data as Float32Array;
}

/** A table filled with these numbers. */
export function filled(numbers: Float32Array, width: 3 | 4): DataTexture {
  const texture = table(numbers.length / width, width);
  numbersOf(texture).set(numbers);
  return texture;
}
