/** The build: one page into the Python package, so that a wheel carries it and no Node is needed to run it. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/understudy/studio/static",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 1500, // kB before compression; the limit that counts is 1 MB gzipped, and a test keeps it
  },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
