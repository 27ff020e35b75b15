import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { kubeconfig } from '../../rig/apiserver/kubeconfig.ts';
import { startApiServer } from '../../rig/apiserver/server.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { pauseOf } from '../../src/api/pause.ts';
import { nodeConfigs } from '../../src/controller/objects/stores.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { systemClock } from '../../src/time/clock.ts';
import { blocksOf } from '../repo/guides.ts';
import { textOf } from '../repo/tree.ts';

const namespace = 'multinic-system';
const name = 'node-1';

it('the commands of the rollout guide read, continue, pause and go on', async () => {
  await using api = await startApiServer({ crds: Object.values(crdDefinitions()), tls: true });
  await using admin = createKubeClient(api.access, { clock: systemClock });
  await createAll(admin, 'namespaces');
  const folder = await mkdtemp(join(tmpdir(), 'multinic-guide-'));
  const file = join(folder, 'kubeconfig');
  const { server, ca, token } = api.access;
  await writeFile(file, kubeconfig(server, ca, await token()));
  const stopped = { type: 'RolloutStopped', status: 'True', reason: 'RolloutStopped' } as const;
  await admin.create(nodeConfigs, { metadata: { name, namespace }, spec: { nodeName: name } });
  await admin.patchStatus(nodeConfigs, { name, namespace }, { status: { conditions: [stopped] } });
  const env = { ...process.env, KUBECONFIG: file };
  const blocks = blocksOf(textOf('docs/guides/rollout.md')).flatMap(({ language, text }) =>
    language === 'sh' ? text : [],
  );
  expect(blocks).toHaveLength(3);
  const run = async (text: string): Promise<string> => {
    const script = text.replaceAll('NODE', name);
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      env,
    });
    return stdout;
  };
  const [read = '', goOn = '', pause = ''] = blocks;
  expect(JSON.parse(await run(read))).toMatchObject(stopped);
  await run(goOn);
  const [set = '', remove = ''] = pause.trim().split('\n');
  await run(set);
  const paused = await admin.get(nodeConfigs, { name, namespace });
  expect(pauseOf(paused)).toEqual({ isPaused: true });
  const value = paused.metadata.annotations?.['multinic.io/rollout-continue'] ?? '';
  expect(Date.parse(value)).toBeGreaterThan(0);
  await run(remove);
  expect(pauseOf(await admin.get(nodeConfigs, { name, namespace }))).toEqual({ isPaused: false });
  await rm(folder, { recursive: true });
});
