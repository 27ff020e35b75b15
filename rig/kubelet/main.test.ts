import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startApiServer } from '../apiserver/server.ts';

const main = join(import.meta.dirname, 'main.ts');

it('registers the Node it is told to be, and ends on SIGTERM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubelet-main-'));
  await using server = await startApiServer({ tls: true });
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, await server.kubeconfig());
  const node = ['--node', 'node-a', '--system-uuid', 'uuid-a', '--internal-ip', '10.0.0.7'];
  const args = [main, '--kubeconfig', kubeconfig, '--host-root', folder, ...node];
  const child = spawn(process.execPath, args);
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  expect(JSON.parse(line)).toEqual({ ready: true, node: 'node-a' });
  expect(server.objects('nodes')).toMatchObject([
    { metadata: { name: 'node-a' }, status: { nodeInfo: { systemUUID: 'uuid-a' } } },
  ]);
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  rmSync(folder, { recursive: true });
});

it('names what is missing on its command line, and exits with 2', async () => {
  const run = promisify(execFile)(process.execPath, [main, '--node', 'a']);
  await expect(run).rejects.toMatchObject({
    code: 2,
    stderr: 'kubelet: --host-root is missing; --help tells what it is\n',
  });
});
