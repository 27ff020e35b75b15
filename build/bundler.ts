import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type BuildOptions, build as esbuild, type Metafile, type Plugin } from 'esbuild';
import type { Build } from '../src/process/version.ts';
import { checkoutBuild } from './identity.ts';
import { leftOut } from './left-out.ts';
import { buildWebPage } from './web-page.ts';

const root = join(import.meta.dirname, '..');

// Some CommonJS dependencies call require() or read __dirname at run time; an ES module has neither. Without imports, because esbuild does
// not rename the banner's names, and modules would collide.
const banner = [
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  'const __filename = import.meta.filename;',
  'const __dirname = import.meta.dirname;',
].join('\n');

/**
 * Reads only the imported names of Node.js' own modules: an import statement makes Node.js evaluate all exports, such as
 * `crypto.webcrypto`, and load the modules behind them (0.5 MB).
 */
const builtinsByName: Plugin = {
  name: 'names of built-in modules',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'built-in', sideEffects: false } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'built-in' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter(
        (name) => name !== 'default',
      );
      const lines = names.map(
        (name) =>
          `const _${name} = /* @__PURE__ */ read('${name}'); export { _${name} as ${name} };`,
      );
      const start = `const module = process.getBuiltinModule('${path}'); const read = (name) => module[name]; export default module;`;
      return { contents: [start, ...lines].join('\n') };
    });
  },
};

/**
 * Refuses a dynamic import of a CommonJS package: Node.js finds named exports in the source, but the bundle has only `default`. Types do
 * not show the difference. A static import has named exports in both.
 */
const packagesAreImportedStatically: Plugin = {
  name: 'packages are imported statically',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      const ours = !importer.includes('/node_modules/');
      if (kind !== 'dynamic-import' || !ours || path.startsWith('node:')) return undefined;
      const text = `import('${path}') has no names in a bundle: import the package statically in a module of ours, and that module dynamically`;
      return { errors: [{ text }] };
    });
  },
};

/** The package reads files by two paths; only below node_modules do both lead to the same folder. */
const swaggerUiHasOneFolder: Plugin = {
  name: 'the files of Swagger UI are in one folder',
  setup(build) {
    build.onLoad({ filter: /swagger-ui\/lib\/routes\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replace(
        "path.join(__dirname, '..', 'static')",
        "path.join(__dirname, 'static')",
      );
      return contents === source ? { errors: [{ text: `${path} has other paths` }] } : { contents };
    });
  },
};

/** Refuses names known only at run time: no image has these files. Packages have such code, but MultiNIC never calls them. */
const unnamed = 'unsupported-dynamic-import';

/** Options shared by all bundles. */
export function bundleOptions({ version, commit }: Build) {
  return {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node24',
    // As Node.js bundles undici for itself: without its second, experimental parser.
    define: {
      esbuildDetection: 'true',
      MULTINIC_VERSION: JSON.stringify(version),
      MULTINIC_COMMIT: JSON.stringify(commit),
    },
    // Every process keeps the program text in memory: minify, but leave names readable in stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    logLevel: 'silent',
    logOverride: { [unnamed]: 'warning' },
    metafile: true,
  } satisfies BuildOptions;
}

/** Images, charts and releases: different make targets write these beside the bundle. */
const kept = /^(charts|images|release|.*\.tar\.gz)$/;

async function removeBundle(out: string): Promise<void> {
  await mkdir(out, { recursive: true });
  for (const name of await readdir(out)) {
    if (!kept.test(name)) await rm(join(out, name), { recursive: true });
  }
}

/**
 * Bundles `entry` into the folder `out`: a chunk per part, because the agent must load as little as possible; and the dashboard's page into
 * `out`/web. `build` is the version in the bundle; default: this checkout.
 */
export async function bundle(
  out: string,
  entry = join(root, 'src/main.ts'),
  build?: Build,
): Promise<Metafile> {
  await removeBundle(out);
  const { metafile, warnings } = await esbuild({
    ...bundleOptions(build ?? (await checkoutBuild())),
    entryPoints: [entry],
    outdir: out,
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    banner: { js: banner },
    legalComments: 'linked',
    plugins: [packagesAreImportedStatically, swaggerUiHasOneFolder, leftOut, builtinsByName],
  });
  const ours = warnings.find(({ location }) => !location?.file.includes('node_modules/'));
  if (ours) throw new Error(`${ours.location?.file}:${ours.location?.line}: ${ours.text}`);
  const swaggerUi = dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui'));
  await cp(join(swaggerUi, 'static'), join(out, 'static'), { recursive: true });
  const page = await buildWebPage(join(out, 'web'));
  return {
    inputs: { ...metafile.inputs, ...page.inputs },
    outputs: { ...metafile.outputs, ...page.outputs },
  };
}
