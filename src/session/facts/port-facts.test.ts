import { expect, it } from 'vitest';
import { startScene } from '../../../test/fixtures/cli/scene.ts';
import { config, port, serverId } from '../../explain/testing/healthy.ts';
import { nodes } from '../../kube/core-resources.ts';
import { openstackConfigs } from './kinds.ts';

const { node: _node, verdict: _verdict, delivery: _delivery, ...unplanned } = port;
const configs = port.configs.map((each) => ({ ...each, selectsSubnet: false }));

it.each([
  { title: 'selects the subnet', internalIp: '192.168.0.18', status: 5, text: 'patch osc storage' },
  { title: "keeps the node's own port", internalIp: '10.40.0.18', status: 0, text: 'InternalIP' },
])('why $title for a port before its first sync', async ({ internalIp, status, text }) => {
  const scene = await startScene();
  scene.answers.set('GET /v1/ports', { items: [{ ...unplanned, configs }] });
  const { namespace = '', name: configName } = config.metadata;
  const spec = { subnetIDs: config.spec.subnetIDs?.slice(0, 1) };
  const own = { namespace, name: configName };
  await scene.client.patch(openstackConfigs, own, { spec });
  const name = 'worker-18';
  await scene.client.create(nodes, { metadata: { name } });
  const addresses = [{ type: 'InternalIP', address: internalIp }];
  await scene.client.patchStatus(
    nodes,
    { name },
    { status: { nodeInfo: { systemUUID: serverId }, addresses } },
  );
  const context = ['--business-context', 'biz-1=biz-context'];
  const ran = await scene.run('why', port.portId, ...context);
  expect(ran.out).toContain(text);
  expect(ran.out).not.toContain('--business-context');
  expect(ran.status).toBe(status);
});
