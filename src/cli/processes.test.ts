import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { startSources } from '../../test/fixtures/cli/sources.ts';

const multinic = join(import.meta.dirname, '../../bin/multinic');

/** Runs the command as users start it; returns status, output and seconds. */
async function run(kubectl: string, ...argv: readonly string[]) {
  const env = { PATH: process.env['PATH'], HOME: '/nowhere', MULTINIC_KUBECTL: kubectl };
  const started = performance.now();
  const child = spawn(multinic, argv, { env });
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { status, out: out + err, seconds: (performance.now() - started) / 1_000 };
}

const access = ['--context', 'prod', '--business-context', 'biz-1=biz', '--request-timeout', '2s'];

it.each([
  [
    'a refused management API',
    'management',
    /./,
    'refused',
    'management cluster (context prod)',
    'status',
  ],
  [
    'Deployments with 403',
    'management',
    /deployments/,
    403,
    'management cluster (context prod)',
    'status',
  ],
  ['a hanging operator API', 'operator', /./, 'hanging', 'operator (port-forward', 'status'],
  [
    'an operator API that sends garbage',
    'operator',
    /./,
    'garbage',
    'operator (port-forward',
    'doctor',
  ],
  ['a business API with 401', 'business', /./, 401, 'business cluster (context biz)', 'doctor'],
] as const)('a process with %s does not end with 0 and names the source', async (...row) => {
  const [, server, paths, failure, source, command] = row;
  const kubectl = await startSources({ server, paths, failure });
  const { status, out, seconds } = await run(kubectl, command, ...access);
  expect(out).toContain(`incomplete: ${source}`);
  expect([1, 5, 6]).toContain(status);
  // Below the former 70 s, with room for a machine under load.
  expect(seconds).toBeLessThan(30);
});

it.each([
  ['a wrapper of kubectl that stays its parent', 'refused', 'KUBECTL "$@" & echo $! >> PIDS; wait'],
  [
    'an exec plugin that keeps the output open',
    'hanging',
    'sleep 60 & echo $! >> PIDS; exec KUBECTL "$@"',
  ],
] as const)('a process ends at the limit, together with %s', async (...row) => {
  const [, failure, script] = row;
  const kubectl = await startSources({ server: 'management', paths: /./, failure });
  const [wrapper, pids] = ['wrapper', 'pids'].map((name) => join(dirname(kubectl), name));
  if (wrapper === undefined || pids === undefined) throw new Error('no path');
  const lines = script.replace('KUBECTL', kubectl).replace('PIDS', pids);
  await writeFile(wrapper, `#!/bin/sh\n${lines}\n`, { mode: 0o700 });
  const { out, seconds } = await run(wrapper, 'status', ...access);
  expect(out).toContain('incomplete: management cluster (context prod)');
  expect(seconds).toBeLessThan(30);
  const started = (await readFile(pids, 'utf8')).trim().split('\n');
  await expect.poll(() => started.filter(isRunning)).toEqual([]);
});

/** Z: a process that ended; its parent reads the exit status later. */
function isRunning(pid: string): boolean {
  return /^[^Z]/.test(spawnSync('ps', ['-o', 'stat=', '-p', pid]).stdout.toString().trim());
}
