import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { filesOfOurs } from './family-host.ts';
import { denyingIp } from './line-by-line-ip.ts';

const mac = '02:00:00:00:01:05';
const plain = nic(0, mac, '10.0.0.11/16', { routing: 'main' });
const via = '10.0.0.254';
/** The kernel refuses the second route, and then every rollback step. */
const wanted = {
  ...plain,
  routes: [
    { to: '10.7.0.0/16', via },
    { to: '10.8.0.0/16', via },
  ],
};
const denied = '(^route.replace.10.8.0.0|down$|^route.del|^addr.del)';

let host: NamespaceHost;
let generation = 0;
afterEach(() => host.down());

async function apply(entries: readonly RequestInterface[], path?: string) {
  const jobRequest = request(entries, { generation: ++generation });
  const { result, stderr } = await runAgent(host, jobRequest, path ? { path } : {});
  if (!result) throw new Error(`no result: ${stderr}`);
  return result.nics;
}

const routes = () => host.ip('route', 'show', 'table', 'all', 'proto', 'static');

describe.each([
  ['a first attach', []],
  ['a change of a live NIC', [plain]],
])('leftovers from %s with a failed rollback', (_what, earlier) => {
  test('leftovers are removed by a later run, even after a second failed run', async () => {
    host = await createHost('leftovers', { nics: { ens5: mac } });
    await apply(earlier);
    const path = await denyingIp(host, denied);
    expect(await apply([wanted], path)).toMatchObject([{ reason: 'RollbackFailed' }]);
    expect(await apply([wanted], path)).not.toMatchObject([{ state: 'Configured' }]);
    expect(await routes()).toContain('10.7.0.0/16');
    expect(await apply([])).toMatchObject([{ state: 'Removed', name: 'ens5' }]);
    expect(await routes()).not.toContain('10.7.0.0/16');
    expect(await host.ip('-4', '-o', 'addr', 'show')).not.toContain('10.0.0.11');
    expect(await filesOfOurs(host)).toEqual({});
    expect(await readdir(join(host.root, 'var/lib/multinic/journal'))).toEqual([]);
  });
});
