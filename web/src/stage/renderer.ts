/** The renderer, with settings for this machine. */
import { ACESFilmicToneMapping, PCFShadowMap, ShaderChunk, SRGBColorSpace, WebGLRenderer } from "three";

export interface RendererLimits {
  software: boolean; // software rendering
  shadowSize: number; // pixels
  anisotropy: number;
  ratio: number; // image pixels for each CSS pixel
}

/** Creates a renderer with a new canvas; throws an error if the browser has no WebGL2. */
export function makeRenderer(): { renderer: WebGLRenderer; limits: RendererLimits } {
  const canvas = document.createElement("canvas");
  const software = isSoftware();
  const context = canvas.getContext("webgl2", {
    antialias: !software,
    alpha: false,
    powerPreference: "high-performance",
    preserveDrawingBuffer: false,
  });
  if (!context?.getExtension("EXT_color_buffer_float"))
    throw new Error(
      "This browser cannot draw the stage: it needs WebGL2 with float textures. " +
        "Update it, or switch on hardware acceleration.",
    );
  if (software) ShaderChunk.shadowmap_pars_fragment = singleTap(ShaderChunk.shadowmap_pars_fragment);
  const renderer = new WebGLRenderer({ canvas, context });
  renderer.outputColorSpace = SRGBColorSpace;
  renderer.toneMapping = ACESFilmicToneMapping;
  renderer.toneMappingExposure = 1.08;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  renderer.info.autoReset = false;
  const limits = {
    software,
    shadowSize: software ? 768 : 2048,
    anisotropy: software ? 1 : Math.min(8, renderer.capabilities.getMaxAnisotropy()),
    ratio: software ? 1 : Math.min(2, window.devicePixelRatio || 1),
  };
  return { renderer, limits };
}

/**
 * Reduces three's shadow filter from five samples to one: with software rendering the five took a third of the time. A
 * coarser shadow map keeps some of the softness.
 */
export function singleTap(chunk: string): string {
  const five = /vec2 texelSize = [\s\S]*?\) \* 0\.2;/;
  return chunk.replace(five, "shadow = texture( shadowMap, shadowCoord.xyz );");
}

/**
 * Whether WebGL runs in software. It needs a context of its own, as antialiasing is chosen when a context is created.
 */
function isSoftware(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  const info = context?.getExtension("WEBGL_debug_renderer_info");
  const name = context && info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /llvmpipe|swiftshader|software|basic render/i.test(name);
}
