/** The build of the viewer: the stage and a transport bar in one script, which Python embeds in an HTML file. */
import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  build: {
    outDir: "../src/understudy/studio/static",
    emptyOutDir: false, // the page is built there first
    target: "es2022",
    chunkSizeWarningLimit: 1500,
    lib: { entry: "src/viewer/main.ts", formats: ["iife"], name: "understudyViewer", fileName: () => "viewer.js" },
  },
});
