// Bundles the executable into dist/: one entry, one chunk per part, so that the agent loads only what it needs.
import { cp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const out = join(root, 'dist');

// Some dependencies are CommonJS and call require() or read __dirname at run time; an ES module has neither.
// The names are prefixed because esbuild does not see them and would let ours collide.
const banner = [
  "import { createRequire as bannerCreateRequire } from 'node:module';",
  "import { dirname as bannerDirname } from 'node:path';",
  "import { fileURLToPath as bannerFileURLToPath } from 'node:url';",
  'const require = bannerCreateRequire(import.meta.url);',
  'const __filename = bannerFileURLToPath(import.meta.url);',
  'const __dirname = bannerDirname(__filename);',
].join('\n');

await rm(out, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  outdir: out,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  banner: { js: banner },
  legalComments: 'linked',
  metafile: true,
});
const swaggerUi = dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui')));
await cp(join(swaggerUi, 'static'), join(out, 'static'), { recursive: true });
const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
console.log(`dist: ${Object.keys(metafile.outputs).length} files, ${Math.round(bytes / 1024)} KiB`);
