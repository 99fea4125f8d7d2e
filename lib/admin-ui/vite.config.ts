// Builds the admin page into dist/admin-ui: content-hashed assets, no inline script or style, and a .br and .gz beside
// each text asset, so that nothing is compressed while it is served.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const outputFolder = fileURLToPath(new URL("../../dist/admin-ui", import.meta.url));

const precompress: Plugin = {
  name: "precompress",
  closeBundle() {
    const assets = join(outputFolder, "assets");
    for (const name of readdirSync(assets)) {
      if (!/\.(?:js|css|svg)$/.test(name)) continue;
      const bytes = readFileSync(join(assets, name));
      writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
    }
  },
};

// eslint-disable-next-line import/no-default-export -- vite reads the default export.
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  // The classic form is a little shorter, and the page has a size to keep.
  oxc: { jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" }, jsxInject: 'import { h, Fragment } from "preact";' },
  build: {
    outDir: outputFolder,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    sourcemap: false,
    reportCompressedSize: false,
  },
  plugins: [precompress],
});
