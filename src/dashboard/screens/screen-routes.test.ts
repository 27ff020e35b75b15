import { expect, it } from 'vitest';
import { unchangedPlan } from '../../../test/fixtures/cli/plans.ts';
import { answerNodes, answerPlan, failedNode } from '../../../test/fixtures/cli/played-operator.ts';
import { type CliFixture, startScene } from '../../../test/fixtures/cli/scene.ts';
import {
  openScreens,
  parsed,
  withContext,
  withoutContext,
} from '../../../test/fixtures/dashboard/screens.ts';
import { type ScreenName, screens } from '../../api/dashboard/screens.ts';
import { observedRecords } from '../../api/inventory-http.ts';
import { nic, node, portId } from '../../explain/testing/healthy.ts';
import { events } from '../../kube/core-resources.ts';

/** Paths of all screens, about worker-18. */
const paths: Readonly<Record<ScreenName, string>> = {
  fleet: '/api/fleet',
  doctor: '/api/doctor',
  nodes: '/api/nodes',
  node: '/api/nodes/biz-1/worker-18',
  nic: '/api/nics/biz-1/worker-18/multinic1',
  port: `/api/ports/${portId}`,
  configs: '/api/configs',
  config: '/api/configs/multinic-system/storage',
  operator: '/api/operator',
  rollouts: '/api/rollouts',
  history: '/api/history?target=worker-18',
  search: '/api/search?text=worker-18',
};
const names = Object.keys(screens) as ScreenName[];

/** Adds answers of the history and of the delivered NICs. */
async function answerAll(scene: CliFixture): Promise<void> {
  const record = {
    providerId: 'biz-1',
    nodeName: 'worker-18',
    instanceId: node(18).instanceId,
    lastConfigHash: 'aa',
    updatedAt: '2026-11-20T01:00:00Z',
    config: {
      nodeName: 'worker-18',
      instanceId: node(18).instanceId,
      interfaces: [
        {
          name: 'multinic1',
          macAddress: nic(18, 1).macAddress,
          addresses: nic(18, 1).addresses,
          mtu: 1450,
          routes: [{ to: '10.9.0.0/16', via: '10.40.0.1' }],
        },
      ],
    },
  };
  scene.answers.set('GET /v1/inventory/node-configs', observedRecords.parse([record]));
  const change = {
    at: '2026-11-20T01:00:00Z',
    providerId: 'biz-1',
    nodeName: 'worker-18',
    instanceId: node(18).instanceId,
    change: 'added',
    name: 'multinic1',
    portId,
    macAddress: nic(18, 1).macAddress,
    after: record.config.interfaces[0],
    openstackConfig: { namespace: 'multinic-system', name: 'storage', generation: 1 },
  };
  scene.answers.set('GET /v1/inventory/history', [change]);
  scene.headers.set('GET /v1/inventory/history', { 'x-oldest': change.at });
  await answerPlan(scene, unchangedPlan);
}

interface World {
  readonly title: string;
  readonly options: typeof withContext;
  readonly forwardError?: string;
  readonly prepare?: (scene: CliFixture) => void;
  /** Statuses beside 200. */
  readonly refused: Readonly<Partial<Record<ScreenName, number>>>;
  /** Screens with silent sources. */
  readonly unread: readonly ScreenName[];
  /** Screens with optional facts that were not read. */
  readonly skipped: readonly ScreenName[];
}

const worlds: readonly World[] = [
  { title: 'is healthy', options: withContext, refused: {}, unread: [], skipped: [] },
  {
    title: 'has no business context',
    options: withoutContext,
    refused: {},
    unread: [],
    skipped: ['fleet', 'doctor', 'node', 'nic', 'port', 'rollouts'],
  },
  {
    title: 'has an operator without an answer',
    options: withoutContext,
    forwardError: 'error: lost connection to pod',
    refused: { node: 503, nic: 503 },
    unread: [
      'fleet',
      'doctor',
      'nodes',
      'port',
      'configs',
      'config',
      'rollouts',
      'history',
      'search',
    ],
    skipped: [],
  },
  {
    title: 'has no nodes',
    options: withoutContext,
    prepare: ({ answers }) => {
      answers.set('GET /v1/nodes', { items: [] });
      const gone = { status: 404, code: 'NoSuchNode', detail: 'no node' };
      answers.set('GET /v1/nodes/biz-1/worker-18', gone);
    },
    refused: { node: 404, nic: 404 },
    unread: [],
    skipped: ['fleet', 'doctor', 'port', 'rollouts'],
  },
];

it.each(worlds)('every screen answers when the system $title', async (world) => {
  const { options, forwardError, prepare, refused, unread, skipped } = world;
  const scene = await startScene(forwardError === undefined ? {} : { forwardError });
  await answerAll(scene);
  prepare?.(scene);
  const { fetch } = await openScreens(options);
  const found = await Promise.all(
    names.map(async (name) => ({ name, ...(await fetch(paths[name])) })),
  );
  expect(Object.fromEntries(found.map(({ name, status }) => [name, status]))).toEqual({
    ...Object.fromEntries(names.map((name) => [name, 200])),
    ...refused,
  });
  const answers = found
    .filter(({ status }) => status === 200)
    .map(({ name, text }) => ({ name, answer: parsed(name, text) }));
  const having = (field: 'unread' | 'skipped') =>
    answers.filter(({ answer }) => answer[field].length > 0).map(({ name }) => name);
  expect(having('unread')).toEqual(names.filter((name) => unread.includes(name)));
  if (forwardError === undefined) {
    expect(having('skipped')).toEqual(names.filter((name) => skipped.includes(name)));
    return;
  }
  for (const { name, answer } of answers.filter((each) => unread.includes(each.name))) {
    expect(answer.unread, name).toContainEqual(
      expect.objectContaining({
        source: 'operator',
        why: expect.objectContaining({
          en: `kubectl port-forward failed: ${forwardError}`,
        }) as object,
      }),
    );
  }
});

it('a failed NIC has a group by cause, a row, an explanation, and next steps with the context', async () => {
  const scene = await startScene();
  await answerAll(scene);
  answerNodes(scene, node(17), failedNode, node(19));
  const options = { ...withContext, context: 'prod' };
  await scene.client.create(events, {
    metadata: { namespace: 'multinic-system', name: 'e1' },
    involvedObject: { kind: 'MultiNicNodeConfig', name: 'worker-18' },
    lastTimestamp: '2026-11-26T05:22:24Z',
    reason: 'NICInUse',
    message: 'multinic1: link ens8 has the foreign address 10.7.0.1/24',
  });
  const { get } = await openScreens(options);
  const { findings, counts } = await get('fleet');
  expect(counts.errors).toBeGreaterThan(0);
  const group = findings.find(({ reason }) => reason === 'NICInUse');
  expect(group).toMatchObject({ severity: 'error', count: 1, nics: 1 });
  expect(group?.findings[0]?.link).toEqual({
    kind: 'nic',
    providerId: 'biz-1',
    nodeName: 'worker-18',
    nic: 'multinic1',
  });
  const { nics, networks, kubernetesNode } = await get('node', paths.node);
  expect(nics.map(({ key, state, reason }) => [key, state, reason])).toEqual([
    ['multinic0', 'Configured', ''],
    ['multinic1', 'Failed', 'NICInUse'],
  ]);
  expect(networks.map(({ name, isDown }) => [name, isDown])).toEqual([
    ['data', false],
    ['tenant', false],
  ]);
  expect(kubernetesNode).toBeUndefined();
  const { why, state, timeline } = await get('nic', paths.nic);
  expect(why).toMatchObject({ conclusion: 'wrong', answer: 'Agent' });
  expect(why.steps).toHaveLength(10);
  const commands = why.steps.flatMap(({ next }) => next?.commands ?? []);
  expect(commands.length).toBeGreaterThan(0);
  expect(state?.desired).toContainEqual({ field: 'routes', value: '10.9.0.0/16 via 10.40.0.1' });
  expect(timeline.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['event', 'portCreated', 'added']),
  );
});
