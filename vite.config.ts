// Builds the package into dist: few large modules, because Node takes about a millisecond for each file that it loads.
// Declarations are tsc's, the admin page is lib/admin-ui/vite.config.ts'.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { defineConfig, type Plugin } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Entry points of package.json, and the files that are started as threads and processes of their own. Those lie beside the chunks, where `new URL("./NAME.js", import.meta.url)` finds them. */
const entries = {
  index: "lib/index.ts",
  "client/index": "lib/client/index.ts",
  "testing/index": "lib/testing/index.ts",
  "command-line/run": "lib/command-line/run.ts",
  "writer-thread": "lib/storage/sqlite/writer-thread.ts",
  "reader-thread": "lib/storage/sqlite/reader-thread.ts",
  "image-process-main": "lib/files/image-process-main.ts",
};

/** The CommonJS files, one by one: they load the modules, and are no part of them. */
const entryPoints: Plugin = {
  name: "entry-points",
  generateBundle() {
    for (const name of ["index", "client/index", "testing/index", "command-line/main"]) {
      const source = readFileSync(`${here}lib/${name}.cts`, "utf8");
      const { outputText } = ts.transpileModule(source, { fileName: `${name}.cts`, compilerOptions: { module: ts.ModuleKind.Node20, target: ts.ScriptTarget.ES2023 } });
      this.emitFile({ type: "asset", fileName: `${name}.cjs`, source: outputText });
    }
  },
};

// eslint-disable-next-line import/no-default-export -- vite reads the default export.
export default defineConfig({
  root: here,
  plugins: [entryPoints],
  build: {
    ssr: true,
    outDir: "dist",
    emptyOutDir: true,
    copyPublicDir: false,
    target: "node20",
    minify: false,
    sourcemap: true,
    rolldownOptions: {
      input: entries,
      external: /^[^./]/,
      output: { format: "esm", entryFileNames: "[name].js", chunkFileNames: "chunk-[name].js" },
    },
  },
});
