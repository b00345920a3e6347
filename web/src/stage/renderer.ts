/** The renderer, as good as the machine allows. */
import { ACESFilmicToneMapping, PCFShadowMap, ShaderChunk, SRGBColorSpace, WebGLRenderer } from "three";

export interface Ability {
  software: boolean; // drawn on the processor
  shadowSize: number; // pixels
  anisotropy: number;
  ratio: number; // pixels of the picture for each pixel of the page
}

/** A renderer into a new canvas, or a sentence where the browser has no WebGL2. */
export function makeRenderer(): { renderer: WebGLRenderer; ability: Ability } {
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
  const ability = {
    software,
    shadowSize: software ? 768 : 2048,
    anisotropy: software ? 1 : Math.min(8, renderer.capabilities.getMaxAnisotropy()),
    ratio: software ? 1 : Math.min(2, window.devicePixelRatio || 1),
  };
  return { renderer, ability };
}

/**
 * Three's shadows with one filtered look into the map instead of five around it, each with a sine and a root: on a
 * processor these alone took a third of a picture. A coarser map makes up for some of the softness.
 */
export function singleTap(chunk: string): string {
  const five = /vec2 texelSize = [\s\S]*?\) \* 0\.2;/;
  return chunk.replace(five, "shadow = texture( shadowMap, shadowCoord.xyz );");
}

/** Whether WebGL runs on the processor; asked of a context of its own, since smoothing is chosen when one is made. */
function isSoftware(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  const info = context?.getExtension("WEBGL_debug_renderer_info");
  const name = context && info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /llvmpipe|swiftshader|software|basic render/i.test(name);
}
