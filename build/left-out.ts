import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

const packages = join(import.meta.dirname, '../node_modules');

/** Stub for modules loaded only by calls that MultiNIC never makes. */
const neverLoaded = (path: string) =>
  `throw new Error(${JSON.stringify(`${path} is left out of the bundle`)});`;

/** Stub for modules loaded always and called never. */
const neverCalled = (path: string) => `module.exports = () => { ${neverLoaded(path)} };`;

/**
 * Subset of undici: connections to a single origin. undici's index also loads fetch, WebSocket, caches and mocks. As an ES module, the stub
 * fails the build when our code imports a missing name; with `exports` such a name would be undefined only in the bundle.
 */
const poolOfUndici = `
  import Dispatcher from './lib/dispatcher/dispatcher.js';
  import request from './lib/api/api-request.js';
  import Pool from './lib/dispatcher/pool.js';
  import buildConnector from './lib/core/connect.js';
  Dispatcher.prototype.request = request;
  export { buildConnector, Pool };`;

/**
 * Functions that fastify uses of semver, loaded at their first use: semver's index runs 45 modules in every process (0.8 MB). A missing
 * name throws.
 */
const usedOfSemver = `
  const functions = {
    coerce: () => require('./functions/coerce.js'),
    gt: () => require('./functions/gt.js'),
    satisfies: () => require('./functions/satisfies.js'),
  };
  module.exports = new Proxy({}, { get: (_, name) => functions[name]() });`;

/**
 * Package files with a smaller replacement, because every process would hold the unused code in memory. MultiNIC uses no HTTP/2, only zod
 * schemas for routes, a single thread for logs and metrics, and no summaries or pushed metrics.
 */
const replaced: Readonly<Record<string, (path: string) => string>> = {
  'undici/index.js': () => poolOfUndici,
  'semver/index.js': () => usedOfSemver,
  'undici/lib/dispatcher/client-h2.js': neverCalled,
  'undici/lib/web/fetch/body.js': neverLoaded,
  'undici/lib/web/fetch/formdata.js': neverLoaded,
  'undici/lib/web/webidl/index.js': neverLoaded,
  // The SIMD parser needs a CPU with SSE4.1. Without this file undici falls back to the plain parser on every CPU.
  'undici/lib/llhttp/llhttp_simd-wasm.js': neverLoaded,
  '@fastify/ajv-compiler/index.js': neverLoaded,
  '@fastify/fast-json-stringify-compiler/index.js': neverLoaded,
  // Lists folders without a wildcard route. Packages inside have no names in a bill of materials.
  'glob/dist/commonjs/index.min.js': (path) => `exports.glob = () => { ${neverLoaded(path)} };`,
  'pino/lib/transport.js': neverCalled,
  'prom-client/lib/cluster.js': neverCalled,
  'prom-client/lib/pushgateway.js': neverCalled,
  'prom-client/lib/timeWindowQuantiles.js': neverCalled,
  // Only for exemplars, which are enabled per metric.
  '@opentelemetry/api/dist/index.cjs': () => 'module.exports = {};',
};

/** Built-in modules that packages load for unused features, with a replacement. */
const unusedBuiltins = [
  { from: 'fastify', path: 'node:http2', contents: 'module.exports = {};' },
  { from: 'commander', path: 'node:child_process', contents: 'module.exports = {};' },
  // pino asks whether a process is a worker.
  { from: 'pino', path: 'worker_threads', contents: 'exports.isMainThread = true;' },
] as const;

const paths = new Map(Object.entries(replaced).map(([name, make]) => [join(packages, name), make]));

/** Replaces unused package files by smaller ones; throws if a package no longer has such a file. */
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
    build.onResolve({ filter: /^(node:|worker_threads$)/ }, ({ path, importer }) => {
      const isUnused = unusedBuiltins.some(
        (one) => one.path === path && importer.startsWith(join(packages, one.from, '/')),
      );
      return isUnused ? { path, namespace: 'left out' } : undefined;
    });
    build.onLoad({ filter: /./, namespace: 'left out' }, ({ path }) => ({
      contents: unusedBuiltins.find((one) => one.path === path)?.contents ?? '',
    }));
  },
};
