import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type CliFixture, home, startScene } from '../../../test/fixtures/cli/scene.ts';
import { namespaces, nodes, pods } from '../../kube/core-resources.ts';
import { openstackConfigs } from '../../session/facts/kinds.ts';

const ref = { namespace: 'multinic-system', name: 'storage' };

async function bundle(scene: CliFixture, ...argv: readonly string[]) {
  const path = join(scene.folder, 'bundle.tar.gz');
  const ran = await scene.run('support-bundle', '-o', path, ...argv);
  return { ...ran, tar: gunzipSync(await readFile(path)).toString('latin1') };
}

it('the log before the crash is read when a container waits for its restart', async () => {
  const scene = await startScene();
  const metadata = { namespace: home, name: 'viola-api-1' };
  const containers = [{ name: 'main', image: 'x' }];
  await scene.client.create(pods, { metadata, spec: { containers } });
  const crashed = {
    name: 'main',
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 1 } },
  };
  await scene.client.patchStatus(pods, metadata, { status: { containerStatuses: [crashed] } });
  // The API server of the scene has no logs.
  const { out } = await bundle(scene);
  expect(out).toContain(`Log of ${home}/viola-api-1/main.previous`);
});

it('--without addresses replaces server names, and Nodes without NICs', async () => {
  const scene = await startScene();
  await scene.client.patch(openstackConfigs, ref, { spec: { vmNames: ['customer-db'] } });
  await scene.client.create(namespaces, { metadata: { name: 'multinic-agents' } });
  const status = { addresses: [{ type: 'InternalIP', address: 'fd00::77' }] };
  await scene.client.create(nodes, { metadata: { name: 'etcd-private' }, spec: {} });
  await scene.client.patchStatus(nodes, { name: 'etcd-private' }, { status });
  const direct = ['--business-context', 'biz-1=biz-context'];
  const { tar } = await bundle(scene, '--without', 'addresses', ...direct);
  expect(tar).toContain('business/');
  expect(tar).not.toMatch(/customer-db|etcd-private|fd00::77|biz-context/);
});
