import type { Plugin } from 'esbuild';
import type { recordedIp } from './recorded-ip.ts';

const key = 'multinicReplacement';

interface Replacement {
  /** Started instead of `ip`; undefined: `spawn` of node:child_process. */
  spawn: ReturnType<typeof recordedIp> | undefined;
}

/** Functions of Node.js that the warm-up replaces. */
export const replacement: Replacement = ((globalThis as Record<string, unknown>)[key] ??= {
  spawn: undefined,
}) as Replacement;

const sources: Readonly<Record<string, string>> = {
  // Node.js cannot serialize the native classes of node:sqlite: load the module after the start.
  'node:sqlite': `Object.defineProperty(exports, 'DatabaseSync', {
    enumerable: true, get: () => process.getBuiltinModule('node:sqlite').DatabaseSync });`,
  // A snapshot cannot contain a child process.
  'node:child_process': `const original = require('node:child_process');
    module.exports = { ...original, spawn: (...args) =>
      (globalThis.${key}?.spawn ?? original.spawn)(...args) };`,
  // pino loads it for transports, which the agent does not use.
  worker_threads: `module.exports = {};`,
};

/** Replaces the modules of Node.js that a snapshot cannot contain. */
export const replacedModules: Plugin = {
  name: 'modules that a snapshot cannot contain',
  setup(build) {
    build.onResolve({ filter: /^(node:sqlite|node:child_process|worker_threads)$/ }, (args) =>
      args.namespace === 'file' ? { path: args.path, namespace: 'replaced' } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'replaced' }, ({ path }) => ({
      contents: sources[path] ?? '',
    }));
  },
};
