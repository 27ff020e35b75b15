import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadKubeconfig } from '../../src/kube/access/kubeconfig.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { crds } from '../../src/kube/core-resources.ts';
import { systemClock } from '../../src/time/clock.ts';
import { startApiServer } from './server.ts';

const main = join(import.meta.dirname, 'main.ts');
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'apiserver-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('serves the CRDs of a folder to the user of its kubeconfig, and leaves nothing behind', async () => {
  const file = join(directory, 'kubeconfig');
  const definitions = join(import.meta.dirname, '../../deploy/crds');
  const child = spawn(process.execPath, [main, '--crds', definitions, '--kubeconfig', file]);
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  expect(JSON.parse(line)).toMatchObject({ ready: true });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const client = createKubeClient(await loadKubeconfig(file), { clock: systemClock });
  const { items } = await client.list(crds);
  expect(items.map((crd) => crd.metadata.name)).toContain('multinicnodeconfigs.multinic.io');
  await client[Symbol.asyncDispose]();
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(existsSync(file)).toBe(false);
});

it('says in one sentence that the port is taken, and exits with 2', async () => {
  await using server = await startApiServer();
  const { port } = new URL(server.url);
  const run = promisify(execFile)(process.execPath, [main, '--port', port]);
  await expect(run).rejects.toMatchObject({
    code: 2,
    stderr: `apiserver: port ${port} on 127.0.0.1 is in use; choose another one or 0 for any free port\n`,
  });
});
