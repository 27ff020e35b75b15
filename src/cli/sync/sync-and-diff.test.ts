import { describe, expect, it } from 'vitest';
import {
  answerNodes,
  attemptRequest,
  driftedNode,
  handleRequest,
  storage,
} from '../../../test/fixtures/cli/played-operator.ts';
import { type CliFixture, startScene } from '../../../test/fixtures/cli/scene.ts';
import { agentAppName, annotations, labels, namespaces } from '../../api/names.ts';
import { nic, node } from '../../explain/testing/healthy.ts';
import { jobs, namespaces as namespaceKind, pods } from '../../kube/core-resources.ts';
import { openstackConfigs } from '../../session/facts/kinds.ts';

/** Asymmetric matcher with the type of its place. */
const textWith = (text: string): string => expect.stringContaining(text) as string;

const plain = { uid: 'u', generation: 1, conditions: [], deleting: false };
const failedCheck = { type: 'Drifted', reason: 'CheckFailed', message: 'the agent was killed' };
const bypassedText = 'multinic1: PathBypassed: replies leave by eth0';
const bypassed = [
  nic(17, 0),
  nic(17, 1, { state: 'Failed', reason: 'PathBypassed', message: 'replies leave by eth0' }),
];

/** Creates the agent Job and the Pod of a check of worker-17. */
async function createCheck({ client }: CliFixture, name: string): Promise<void> {
  const namespace = namespaces.agents;
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'agent', image: 'x' }] },
  };
  const own = { [labels.appName]: agentAppName, [labels.nodeName]: 'worker-17' };
  await client.create(namespaceKind, { metadata: { name: namespace } });
  await client.create(jobs, {
    metadata: { namespace, name, labels: { ...own, [labels.action]: 'check' } },
    spec: { suspend: true, template },
  });
  await client.create(pods, {
    metadata: { namespace, name, labels: { 'job-name': name } },
    spec: template.spec,
  });
}

describe('sync and diff', () => {
  it('sync sets reconcile-at, and returns when the operator has handled it', async () => {
    const scene = await startScene();
    const handled = handleRequest(scene);
    const ran = await scene.run('sync', 'storage');
    await handled;
    expect(ran).toMatchObject({ status: 0, out: textWith('was synced: Ready True NoChange') });
  });

  it('diff requests a check, waits for the result and ends with 4', async () => {
    const scene = await startScene();
    const handled = handleRequest(scene, () => answerNodes(scene, driftedNode));
    const ran = await scene.run('diff', 'worker-17');
    expect(await handled).toContain('"nodes":["worker-17"]');
    expect(ran.status).toBe(4);
    expect(ran.out.split('\n').slice(1)).toEqual([
      '+ would be applied',
      '',
      'multinic0',
      '  + link set mtu 1450',
      '  + rule add from 10.20.0.17/32',
      'multinic1: no difference',
      '',
      'Next: to apply what differs once:',
      '  kubectl multinic sync --node biz-1/worker-17',
    ]);
  });

  it.each([
    [[], ['  + ip rule add from 10…', '  (and more)'], '--business-context biz-1=CONTEXT'],
    [['--business-context', 'biz-1=biz-context'], ['  + ip rule add from 10.20.0.17/32'], ''],
  ] as const)(
    'diff %j shows a list that the status shortens as %j',
    async (argv, lines, missing) => {
      const mac = nic(17, 0).macAddress;
      const steps = ['ip link set mtu 1450', 'ip rule add from 10.20.0.17/32'];
      const logs = {
        'check-1': `${JSON.stringify({ level: 'info', mac, steps, msg: 'plan' })}
{"cut`,
      };
      const scene = await startScene({ logs });
      await createCheck(scene, 'check-1');
      const message = 'an apply would: ip link set mtu 1450; ip rule add from 10…';
      const nics = [nic(17, 0, { reason: 'Drifted', message }), nic(17, 1)];
      const handled = handleRequest(scene, () => answerNodes(scene, { ...driftedNode, nics }));
      const { status, out } = await scene.run('diff', 'worker-17', ...argv);
      await handled;
      expect(status).toBe(4);
      expect(out.split('\n').slice(3, 5 + lines.length)).toEqual([
        'multinic0',
        '  + ip link set mtu 1450',
        ...lines,
      ]);
      expect(out).toContain(missing);
    },
  );

  it('sync --node waits for the repair after a check found drift', async () => {
    const scene = await startScene();
    let reads = 0;
    const healed = node(17, { checkedAt: '2026-11-26T05:24:52Z' });
    const read = () => (reads++ === 0 ? driftedNode : healed);
    const handled = handleRequest(scene, () =>
      scene.answers.set('GET /v1/nodes/biz-1/worker-17', read),
    );
    const ran = await scene.run('sync', '--node', 'worker-17');
    await handled;
    expect(ran).toMatchObject({ status: 0, out: textWith('is as planned') });
  });

  it.each<[string, Parameters<typeof node>[1], string]>([
    ['a NIC failed', { ready: 'False', state: 'Failed', nics: bypassed }, bypassedText],
    [
      'the check failed',
      { object: { ...plain, conditions: [{ ...failedCheck, status: 'Unknown' }] } },
      'CheckFailed: the agent was killed',
    ],
    ['Ready is Unknown', { ready: 'Unknown', reason: '', message: 'old' }, 'Ready Unknown: old'],
  ])('sync --node and diff end with 1 and name the cause if %s', async (_, change, text) => {
    const scene = await startScene();
    for (const argv of [
      ['sync', '--node', 'worker-17'],
      ['diff', 'worker-17'],
    ]) {
      answerNodes(scene, node(17));
      const checked = node(17, { ...change, checkedAt: '2026-11-26T05:24:50Z' });
      const handled = handleRequest(scene, () => answerNodes(scene, checked));
      const { status, out } = await scene.run(...argv);
      await handled;
      expect({ argv, status, out }).toMatchObject({ status: 1, out: textWith(text) });
      expect(out).toContain('Next: kubectl multinic why biz-1/worker-17');
      expect(out).not.toMatch(/multinic0.*no difference, |worker-17.*no difference|as planned/);
      expect(out.includes('multinic0: no difference')).toBe(
        text === bypassedText && argv[0] === 'diff',
      );
    }
  });

  it.each([
    ['sync', 'storage'],
    ['sync', '--node', 'worker-17'],
    ['diff', 'worker-17'],
  ])('%s %s for a paused OpenstackConfig ends with 3 and writes no annotation', async (...argv) => {
    const scene = await startScene();
    const paused = { metadata: { annotations: { [annotations.paused]: 'true' } } };
    await scene.client.patch(openstackConfigs, storage, paused);
    const ran = await scene.run(...argv);
    const { metadata } = await scene.client.get(openstackConfigs, storage);
    expect(ran).toMatchObject({ status: 3, err: textWith('is paused') });
    expect(ran.err).toContain(
      `Next: kubectl -n multinic-system annotate osc storage ${annotations.paused}-`,
    );
    expect(metadata.annotations).toEqual(paused.metadata.annotations);
  });

  it.each([
    [annotations.reconcileAt, 'other', 1, 'was replaced by another request'],
    [annotations.paused, 'true', 3, 'is paused'],
  ])('sync ends when another user sets %s to %s meanwhile', async (name, value, expected, text) => {
    const scene = await startScene();
    const change = { metadata: { annotations: { [name]: value } } };
    const played = attemptRequest(scene, () => ({})).then(() =>
      scene.client.patch(openstackConfigs, storage, change),
    );
    const ran = await scene.run('sync', 'storage');
    await played;
    expect(ran).toMatchObject({ status: expected, err: textWith(text) });
  });

  it('sync ends with 1 when the attempt fails, with reason, cause and next try', async () => {
    const scene = await startScene();
    const message = 'keystone: unexpected status 401';
    const nextAt = '2999-01-01T00:00:00Z';
    const played = attemptRequest(scene, ({ reconcileAt = '' }) => ({
      lastAttempt: { reconcileAt, at: '2026-11-26T05:25:00Z', nextAt },
      conditions: [{ type: 'Ready', status: 'False', reason: 'KeystoneError', message }],
    }));
    const { status, out } = await scene.run('sync', 'storage');
    await played;
    expect(status).toBe(1);
    expect(out).toContain(`KeystoneError: ${message}; next try at ${nextAt}`);
    expect(out).toContain('Next: Check URL, account, password and projectID.');
    expect(out).not.toContain('kubectl multinic');
  });

  it.each([
    [['sync', 'storage'], annotations.reconcileAt],
    [['diff', 'worker-17'], annotations.checkNodes],
  ])('%j ends with 1 after --timeout, and the request stays', async (argv, name) => {
    const scene = await startScene();
    const ran = await scene.run(...argv, '--timeout', '10ms');
    expect(ran).toMatchObject({ status: 1, err: textWith(`the annotation ${name} stays`) });
    expect(ran.err).not.toMatch(/kubectl multinic (status|why|doctor|sync)/);
  });
});
