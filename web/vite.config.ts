/** The build: one page into the Python package, so that a wheel carries it and no Node is needed to run it. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  build: {
    outDir: fileURLToPath(new URL("../src/understudy/studio/static", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 1500,
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
