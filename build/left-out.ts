import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

const packages = join(import.meta.dirname, '../node_modules');

/** For what is loaded only by a call that we never make. */
const neverLoaded = (path: string) =>
  `throw new Error(${JSON.stringify(`${path} is left out of the bundle`)});`;

/** For what is loaded anyway and never called. */
const neverCalled = (path: string) => `module.exports = () => { ${neverLoaded(path)} };`;

/**
 * Of undici we use connections to one origin; its index loads fetch, WebSocket, caches and mocks besides. As an ES module it
 * fails the build when our code imports another name: with `exports` such a name is undefined in the bundle alone.
 */
const poolOfUndici = `
  import Dispatcher from './lib/dispatcher/dispatcher.js';
  import request from './lib/api/api-request.js';
  import Pool from './lib/dispatcher/pool.js';
  import buildConnector from './lib/core/connect.js';
  Dispatcher.prototype.request = request;
  export { buildConnector, Pool };`;

/**
 * Files of packages that the bundle has something smaller for: every process would pay for them in memory, and nothing of
 * ours uses them. HTTP/2 is switched off wherever we connect, schemas of routes are zod, logs and metrics come from one thread,
 * and no metric is a summary or pushed.
 */
const replaced: Readonly<Record<string, (path: string) => string>> = {
  'undici/index.js': () => poolOfUndici,
  'undici/lib/dispatcher/client-h2.js': neverCalled,
  'undici/lib/web/fetch/body.js': neverLoaded,
  'undici/lib/web/fetch/formdata.js': neverLoaded,
  'undici/lib/web/webidl/index.js': neverLoaded,
  // One of two parsers is enough, and this is the one that only a CPU with SSE4.1 can run: undici takes the other then.
  'undici/lib/llhttp/llhttp_simd-wasm.js': neverLoaded,
  '@fastify/ajv-compiler/index.js': neverLoaded,
  '@fastify/fast-json-stringify-compiler/index.js': neverLoaded,
  // Lists a folder that is not served by a wildcard. What it has of other packages has no names in a bill of materials.
  'glob/dist/commonjs/index.min.js': (path) => `exports.glob = () => { ${neverLoaded(path)} };`,
  'pino/lib/transport.js': neverCalled,
  'prom-client/lib/cluster.js': neverCalled,
  'prom-client/lib/pushgateway.js': neverCalled,
  'prom-client/lib/timeWindowQuantiles.js': neverCalled,
  // Only for exemplars, which are switched on per metric.
  '@opentelemetry/api/dist/index.cjs': () => 'module.exports = {};',
};

/** Built-in modules that packages load for what they do for others. */
const unusedBuiltins = [
  ['fastify', 'node:http2'],
  ['commander', 'node:child_process'],
] as const;

const paths = new Map(Object.entries(replaced).map(([name, make]) => [join(packages, name), make]));

/** Puts less in the place of what nothing of ours uses; refuses to when a package has such a file no longer. */
export const leftOut: Plugin = {
  name: 'left out',
  setup(build) {
    build.onStart(() => {
      const gone = [...paths.keys()].filter((path) => !existsSync(path));
      return {
        errors: gone.map((path) => ({ text: `${path} is to be left out, and is not there` })),
      };
    });
    build.onLoad({ filter: /\/node_modules\/.*\.c?js$/ }, ({ path }) => {
      const make = paths.get(path);
      return make && { contents: make(relative(packages, path)), resolveDir: dirname(path) };
    });
    build.onResolve({ filter: /^node:/ }, ({ path, importer }) =>
      unusedBuiltins.some(
        ([from, name]) => path === name && importer.startsWith(join(packages, from)),
      )
        ? { path, namespace: 'left out' }
        : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'left out' }, () => ({
      contents: 'module.exports = {};',
    }));
  },
};
