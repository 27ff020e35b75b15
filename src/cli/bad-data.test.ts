import { expect, it } from 'vitest';
import { unchangedPlan } from '../../test/fixtures/cli/plans.ts';
import { answerNodes } from '../../test/fixtures/cli/played-operator.ts';
import { startScene } from '../../test/fixtures/cli/scene.ts';
import { nic, node, port } from '../explain/testing/healthy.ts';

const other = { ...port, portId: 'be0f33c1-0000-4000-8000-000000000078' };
const twins = [node(18), node(18, { providerId: 'biz-2', instanceId: 'server-2' })];

it.each([
  ['two ports with one MAC', port.macAddress],
  ['an address in two clouds', '10.40.0.18'],
])('why explains both ports when the operator knows %s', async (_, target) => {
  const scene = await startScene();
  scene.answers.set('GET /v1/ports', { items: [port, other] });
  const { out } = await scene.run('why', target);
  for (const { portId } of [port, other]) expect(out).toContain(`Port ${portId} `);
});

it.each([
  ['diff', 'worker-18'],
  ['sync', '--node', 'worker-18'],
])('%s %s refuses a node name in two business clusters', async (...argv) => {
  const scene = await startScene();
  answerNodes(scene, ...twins);
  const { status, err } = await scene.run(...argv);
  expect(status).toBe(3);
  // A busy machine also shows progress.
  expect(err).toContain(
    '2 nodes have the name worker-18: biz-1/worker-18, biz-2/worker-18\nNext: give PROVIDER/NODE',
  );
});

it('why explains the ports of both nodes when two business clusters have the name', async () => {
  const scene = await startScene();
  answerNodes(scene, ...twins);
  scene.answers.set('GET /v1/ports?serverId=server-2', { items: [other] });
  const { out } = await scene.run('why', 'worker-18');
  for (const { portId } of [port, other]) expect(out).toContain(`Port ${portId} `);
});

it('why fails with PortNotFound for a port of a project that no OpenstackConfig selects', async () => {
  const scene = await startScene();
  const missing = { status: 404, code: 'NoSuchPort', detail: 'no such port' };
  scene.answers.set('GET /v1/ports', missing);
  const { status, out } = await scene.run('why', other.portId);
  expect(status).toBe(5);
  expect(out).toContain('PortNotFound');
  expect(out).toContain('\nNext: ');
});

const evil = 'evil\u001b[2J\u009b31m\u202e';
const everywhere = {
  nodeName: evil,
  message: evil,
  reason: evil,
  ready: 'False' as const,
  state: 'Failed',
};

it.each([
  ['status'],
  ['nodes', '-o', 'wide'],
  ['nodes', '-o', 'name'],
  ['nics', '-o', 'wide'],
  ['why', '10.40.0.18'],
  ['doctor'],
  ['plan', 'storage'],
  ['plan', 'storage', '--set', `subnetName=${evil}`],
  ['plan', evil],
  ['why', evil],
])('%j writes no control character when names have escape sequences', async (...argv) => {
  const scene = await startScene();
  const names = { networkName: evil, subnetName: evil, message: evil };
  const nics = [nic(18, 0, names), nic(18, 1, { ...names, state: 'Failed', reason: evil })];
  answerNodes(scene, node(18, { ...everywhere, nics }));
  scene.answers.set('GET /v1/nodes/biz-1/worker-18', node(18, { ...everywhere, nics }));
  scene.answers.set('GET /v1/ports', { items: [{ ...port, serverName: evil, networkName: evil }] });
  const problems = [{ reason: 'SubnetNotFound', subject: evil, message: evil }];
  const changed = { nodeName: evil, instanceId: 'x', action: 'delete', why: evil, nics: [] };
  const nodes = [{ ...changed, unconfirmedRemovals: [evil] }];
  scene.answers.set('POST /v1/plan/multinic-system/storage', { ...unchangedPlan, problems, nodes });
  const { out, err } = await scene.run(...argv);
  expect(`${out}${err}`).toContain('evil\\u001b[2J');
  expect(`${out}${err}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
