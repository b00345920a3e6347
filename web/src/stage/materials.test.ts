import { ShaderChunk, ShaderLib } from "three";
import { describe, expect, it } from "vitest";
import { gridStep } from "./ground";
import { lightAzimuth, lightDirection } from "./lights";
import { soften } from "./materials";
import { singleTap } from "./renderer";
import { vertexLitVertexShader } from "./vertex_lit_material";

describe("soft skin", () => {
  it("patches three's own light", () => {
    const shader = { fragmentShader: ShaderLib.physical.fragmentShader };
    soften(shader);
    expect(shader.fragmentShader).toContain("vec3 softIrradiance");
    expect(shader.fragmentShader).toContain("directDiffuse += softIrradiance");
    expect(shader.fragmentShader).not.toContain("#include <lights_physical_pars_fragment>");
  });
});

describe("vertex lit materials", () => {
  it("light three's vertex shader after everything that it needs", () => {
    const shader = vertexLitVertexShader(ShaderLib.physical.vertexShader);
    expect(shader.indexOf("lights_pars_begin")).toBeGreaterThan(shader.indexOf("#include <shadowmap_pars_vertex>"));
    expect(shader.indexOf("float key = keyLight();")).toBeGreaterThan(shader.indexOf("#include <shadowmap_vertex>"));
    expect(shader).toContain("vec3 softLight(");
  });
});

describe("shadows", () => {
  it("sample once where three samples five times", () => {
    const chunk = singleTap(ShaderChunk.shadowmap_pars_fragment);
    expect(chunk).toContain("shadow = texture( shadowMap, shadowCoord.xyz );");
    expect(chunk.length).toBeLessThan(ShaderChunk.shadowmap_pars_fragment.length - 500);
    expect(chunk).toContain("return mix( 1.0, shadow, shadowIntensity );");
  });
});

describe("light", () => {
  it("comes from the upper left front, wherever the camera is", () => {
    for (const azimuth of [0, 1, -2, 3]) {
      const key = lightDirection(azimuth, -35, 38);
      expect(key.length()).toBeCloseTo(1, 9);
      expect(key.y).toBeCloseTo(Math.sin((38 * Math.PI) / 180), 9);
    }
    expect(lightDirection(0, -35, 38).x).toBeLessThan(0);
    expect(lightDirection(0, -35, 38).z).toBeGreaterThan(0);
  });

  it("goes round without a jump", () => {
    expect(lightAzimuth(Math.PI) - lightAzimuth(-Math.PI)).toBeCloseTo(2 * Math.PI, 9);
  });
});

describe("the grid", () => {
  it("has round steps of a fifth to a half of the radius", () => {
    for (const radius of [0.003, 0.5, 1, 7, 120]) {
      const step = gridStep(radius);
      expect(step).toBeLessThanOrEqual(0.5 * radius);
      expect(step).toBeGreaterThanOrEqual(0.19 * radius);
      expect([1, 2, 5]).toContain(Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9)));
    }
  });
});
