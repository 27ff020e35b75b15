import { beforeEach, expect, it } from 'vitest';
import { changedPlan } from '../../../test/fixtures/cli/plans.ts';
import { answerPlan, refused, storage } from '../../../test/fixtures/cli/played-operator.ts';
import {
  type CliFixture,
  createConfig,
  home,
  startScene,
} from '../../../test/fixtures/cli/scene.ts';
import {
  type OpenScreens,
  openScreens,
  withoutContext,
} from '../../../test/fixtures/dashboard/screens.ts';
import { annotations } from '../../api/names.ts';
import { config } from '../../explain/testing/healthy.ts';
import { multiNicOperators, openstackConfigs } from '../../session/facts/kinds.ts';

let scene: CliFixture;
let screens: OpenScreens;

beforeEach(async () => {
  scene = await startScene();
  screens = await openScreens(withoutContext);
});

const silentCloud = [
  { type: 'Ready', status: 'False' as const, reason: 'KeystoneError', message: 'keystone: 401' },
];

it('OpenstackConfigs have conditions in words, pause and trigger, and a cloud without an answer is named', async () => {
  await createConfig(scene.client, {
    ...config,
    metadata: { namespace: 'multinic-system', name: 'tenant' },
    status: { conditions: silentCloud },
  });
  const metadata = { annotations: { [annotations.paused]: 'true' } };
  await scene.client.patch(openstackConfigs, storage, { metadata });
  await scene.client.create(multiNicOperators, {
    metadata: { namespace: home, name: 'operator' },
    spec: { reconcileTrigger: { mode: 'scheduled', interval: '15m' } },
  });
  const { configs, count, clouds } = await screens.get('configs');
  expect(count).toBe(2);
  expect(
    configs.map(({ name, paused, trigger, lastSyncAt }) => [name, paused, trigger, lastSyncAt]),
  ).toEqual([
    ['storage', 'true', 'scheduled', '2026-11-26T05:24:48Z'],
    ['tenant', undefined, 'scheduled', undefined],
  ]);
  expect(configs[1]?.text.ko).toContain('(keystone: 401)');
  expect(clouds).toMatchObject([
    {
      access: 'contrabass',
      name: 'cloud-1',
      state: 'failing',
      reason: 'KeystoneError',
      configs: ['multinic-system/storage', 'multinic-system/tenant'],
    },
  ]);
});

it('an OpenstackConfig shows waiting removals with budgets, and its selection', async () => {
  await answerPlan(scene, changedPlan);
  const { plan, subnets, servers, cloud } = await screens.get(
    'config',
    '/api/configs/multinic-system/storage',
  );
  expect(plan).toMatchObject({
    hash: changedPlan.hash,
    heldRemovals: 1,
    unconfirmed: 2,
    heldNics: [{ nodeName: 'worker-20', name: 'multinic1', code: 'OverBudget' }],
  });
  expect(plan?.budgets).toEqual(changedPlan.budgets);
  expect({ subnets, servers: servers.count, cloud: cloud.name }).toEqual({
    subnets: config.spec.subnetIDs,
    servers: 1,
    cloud: 'cloud-1',
  });
});

it('an OpenstackConfig without a plan since the operator leads has no plan and no silent source', async () => {
  scene.answers.set('GET /v1/plan/multinic-system/storage', refused(404, 'NotPlannedYet'));
  const { plan, unread } = await screens.get('config', '/api/configs/multinic-system/storage');
  expect({ plan, unread }).toEqual({ plan: undefined, unread: [] });
});

it('an absent OpenstackConfig gets 404 with the next step', async () => {
  const { status, text } = await screens.fetch('/api/configs/multinic-system/absent');
  expect(status).toBe(404);
  expect(text).toContain('kubectl multinic status');
});

it.each(['%2e%2e/storage', 'multinic-system/%2e%2e%2fv1', '<b>/storage'])(
  'the name %s gets 400, and the operator gets no request',
  async (name) => {
    expect((await screens.fetch(`/api/configs/${name}`)).status).toBe(400);
    expect(scene.requests).toEqual([]);
  },
);

it('the operator screen has database, backup and operation of a MultiNicOperator', async () => {
  const ref = { namespace: home, name: 'operator' };
  const spec = { database: { enabled: true } };
  await scene.client.create(multiNicOperators, { metadata: ref, spec });
  const lastBackup = {
    at: '2026-11-26T03:00:10Z',
    file: 'multinic-1.sql.gz',
    bytes: 100,
    verified: true,
  };
  const operation = { kind: 'upgrade', request: 'mariadb:11', step: 'dump' };
  const databaseStatus = {
    phase: 'Ready',
    readyReplicas: 1,
    version: '10.11',
    lastBackup,
    operation,
  };
  await scene.client.patchStatus(multiNicOperators, ref, {
    status: { phase: 'Running', message: 'all parts run', databaseStatus },
  });
  const { operators, parts } = await screens.get('operator');
  expect(operators).toMatchObject([
    { name: 'operator', phase: 'Running', backupSchedule: '0 3 * * *', lastBackup, operation },
  ]);
  expect(parts.map(({ part, result, version }) => [part, result, version])).toEqual([
    ['operator', 'ok', '0.2.0'],
    ['viola', 'ok', '0.2.0'],
  ]);
});
