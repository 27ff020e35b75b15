import { expect, it } from 'vitest';
import { observeFleet } from '../../test/fixtures/cli/observed-fleet.ts';
import { answerNodes, handleRequest } from '../../test/fixtures/cli/played-operator.ts';
import { type CliFixture, startScene } from '../../test/fixtures/cli/scene.ts';
import { cluster, nic } from '../explain/testing/healthy.ts';
import { observedNode } from '../explain/testing/observed.ts';

async function startObserved(): Promise<CliFixture> {
  const scene = await startScene();
  await observeFleet(scene);
  return scene;
}

it.each([
  [['status'], 0, 'Observed'],
  [['status', '--fail-on', 'warning'], 5, 'plan multinic-system/storage --set mode=Apply'],
  [['doctor'], 0, '20 nodes: 50-cloud-init.yaml configures 20 NICs'],
  [['doctor', '--fail-on', 'warning'], 5, ''],
  [['why', 'worker-18/multinic1'], 0, 'which is only observed; warning: LeasedByHost'],
  [['why', 'worker-18/multinic1', '--fail-on', 'warning'], 5, ''],
  [['why', 'worker-18/multinic2'], 0, '{"mode":"Apply"}'],
  [['nodes', '--state', 'Observed'], 0, '1/3'],
  [['nics', '--state', 'Observed', '--reason', 'LeasedByHost'], 0, 'multinic1'],
  [['plan', 'storage'], 0, 'spec.settings.mode is Observe'],
  [['plan', 'storage', '--set', 'mode=Apply'], 4, '~ 20 nodes  mode Observe becomes Apply'],
  [['doctor', '-o', 'json', '--fail-on', 'never'], 0, 'nothing to examine'],
  [['plan', 'storage', '--removals'], 0, ''],
] as const)('%j of an observed fleet ends with %i', async (argv, status, text) => {
  const scene = await startObserved();
  const ran = await scene.run(...argv);
  expect(ran).toMatchObject({ status, err: '' });
  expect(ran.out).toContain(text);
});

it.each([
  ['Now', 'takes this configuration over at once'],
  ['AtBoot', 'they take effect at the next boot'],
  ['OtherLinksToo', 'cannot be adopted (OtherLinksToo): the stanza also configures other links'],
])('diff of a NIC with adoption %s says what Adopt would do', async (adoption, text) => {
  const scene = await startObserved();
  const found = { file: '/etc/netplan/50-cloud-init.yaml', adoption };
  const handled = handleRequest(scene, () => answerNodes(scene, observedNode(1, { found })));
  const ran = await scene.run('diff', 'worker-1');
  await handled;
  expect(ran.out).toContain(text);
});

const configured = [nic(1, 0)];
const failedCheck = { type: 'Drifted', status: 'Unknown', reason: 'CheckFailed' } as const;
const object = { uid: 'u', generation: 1, deleting: false, conditions: [failedCheck] };

it.each([
  ['has differences', 4, {}],
  ['is not checked yet', 4, { nics: [nic(1, 0, { state: 'Observed', reason: 'Observed' })] }],
  ['is as planned', 0, { nics: configured }],
  ['could not be checked', 1, { nics: configured, object }],
])('diff of an observed node that %s ends with %i', async (_, status, more) => {
  const scene = await startObserved();
  const handled = handleRequest(scene, () => answerNodes(scene, { ...observedNode(1), ...more }));
  const ran = await scene.run('diff', 'worker-1');
  await handled;
  expect(ran.status).toBe(status);
  expect(ran.out).toContain('Only observed');
});

it('sync --node refuses an observed node, and names how to leave the mode', async () => {
  const scene = await startObserved();
  const { status, err } = await scene.run('sync', '--node', 'worker-1');
  expect(status).toBe(3);
  expect(err).toContain('only observes its nodes');
  expect(err).toContain('{"spec":{"settings":{"mode":"Apply"}}}');
});

it('status counts no observed NIC for an operator of an earlier release', async () => {
  const scene = await startScene();
  const nics = { Pending: 0, InProgress: 0, Configured: 6, Failed: 0 };
  scene.answers.set('GET /v1/clusters', { items: [{ ...cluster, nics }] });
  const { status, out } = await scene.run('status');
  expect(status).toBe(0);
  expect(out).toMatch(/^biz-1 +yes +ok +- +3 +6 +0 +0 +0 +0 /m);
});

it('doctor -o json lists every NIC behind a shared finding', async () => {
  const scene = await startObserved();
  const { out } = await scene.run('doctor', '-o', 'json');
  const { findings } = JSON.parse(out) as { findings: { subject: string; affected?: object[] }[] };
  const shared = findings.find(({ subject }) => subject === 'biz-1');
  expect(shared?.affected).toHaveLength(20);
});
