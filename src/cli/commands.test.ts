import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { unchangedPlan } from '../../test/fixtures/cli/plans.ts';
import {
  answerNodes,
  failedNode,
  refused,
  storage,
} from '../../test/fixtures/cli/played-operator.ts';
import { type CliFixture, createConfig, home, startScene } from '../../test/fixtures/cli/scene.ts';
import { config, node, port } from '../explain/testing/healthy.ts';
import { pods } from '../kube/core-resources.ts';
import { openstackConfigs } from '../session/facts/kinds.ts';

/** Asymmetric matcher with the type of its place. */
const textWith = (text: string): string => expect.stringContaining(text) as string;

describe('exit status', () => {
  it.each([
    ['status', [], 0],
    ['nodes', [], 0],
    ['nodes', ['-o', 'nonsense'], 2],
    ['nodes', ['--request-timeout', '0s'], 2],
    ['nodes', ['--business-kubeconfig', 'biz-1'], 2],
    ['nics', ['--state', 'Unused'], 0],
    ['why', ['worker-18/multinic1'], 0],
    ['why', ['10.40.0.18'], 0],
    ['why', ['not a target'], 2],
    ['why', ['worker-99'], 1],
    ['doctor', [], 0],
    ['plan', ['absent'], 3],
    ['plan', ['storage', '--set', 'portBaselin=All'], 2],
    ['sync', [], 2],
  ] as const)('%s %j of a healthy system is %i', async (name, argv, status) => {
    const scene = await startScene();
    const ran = await scene.run(name, ...argv);
    expect({ ...ran }).toMatchObject({ status });
  });

  it('findings end status, why and doctor with 5, unless --fail-on never', async () => {
    const scene = await startScene();
    answerNodes(scene, failedNode);
    scene.answers.set('GET /v1/ports', { items: [port] });
    const all = [
      await scene.run('status'),
      await scene.run('why', 'worker-18/multinic1'),
      await scene.run('doctor'),
      await scene.run('doctor', '--fail-on', 'never'),
    ];
    expect(all.map(({ status }) => status)).toEqual([5, 5, 5, 0]);
    expect(all[0]?.out).toContain('Next: kubectl multinic why worker-18/multinic1');
  });

  it('a plan with changes ends with 4, and sends the edit', async () => {
    const scene = await startScene();
    let sent: unknown;
    const changed = {
      nodeName: 'worker-18',
      instanceId: 'x',
      action: 'update',
      why: '',
      nics: [],
      unconfirmedRemovals: [],
    };
    scene.answers.set('POST /v1/plan/multinic-system/storage', (body: unknown) => {
      sent = body;
      return {
        ...unchangedPlan,
        nodes: [changed],
        agentJobs: 1,
        dryRun: { validated: false, message: 'legacy' },
      };
    });
    const argv = ['storage', '--set', 'portBaseline=All', '--set', 'subnetIDs=a,b'];
    const ran = await scene.run('plan', ...argv);
    expect([ran.status, sent]).toEqual([
      4,
      { settings: { portBaseline: 'All' }, subnetIDs: ['a', 'b'] },
    ]);
  });
});

describe('why SERVER', () => {
  const outside = {
    ...port,
    portId: 'be0f33c1-0000-4000-8000-000000000001',
    addresses: [{ subnetId: 'primary-subnet', ip: '192.168.0.18' }],
    configs: port.configs.map((each) => ({ ...each, selectsSubnet: false })),
    verdict: { config: 'multinic-system/storage', reason: 'SubnetNotSelected', at: port.readAt },
  };

  it.each([
    ['worker-18', 0, 'nothing is wrong: SubnetNotSelected'],
    [port.deviceId, 0, 'nothing is wrong: SubnetNotSelected'],
    [outside.portId, 5, 'is not a NIC: SubnetNotSelected'],
  ])(
    'why %s with a port outside the selected subnets ends with %i',
    async (target, status, text) => {
      const scene = await startScene();
      const noPort = { status: 404, code: 'NoSuchPort', detail: 'no such port' };
      scene.answers.set('GET /v1/ports', { items: [outside, port] });
      scene.answers.set(`GET /v1/ports?portId=${port.deviceId}`, noPort);
      scene.answers.set(`GET /v1/ports?portId=${outside.portId}`, { items: [outside] });
      const ran = await scene.run('why', target);
      expect(ran.status).toBe(status);
      expect(ran.out).toContain(text);
      expect(ran.out).not.toContain('primary-subnet"');
    },
  );
});

describe('closed lists', () => {
  it.each([
    ['nodes', ['--state', 'Confgured'], 2, 'did you mean `Configured`'],
    ['nics', ['--state', 'Bogus'], 2, 'choose one of Pending, InProgress'],
    ['nodes', ['--reason', 'NicInUs'], 2, 'did you mean `NICInUse`'],
    ['nics', ['--reason', 'Bogus'], 2, '--reason "Bogus" is unknown'],
    ['nodes', ['worker-9'], 1, 'delivers a node worker-9'],
    ['nodes', ['worker-18', 'biz-2/worker-18'], 1, 'delivers a node biz-2/worker-18'],
    ['nics', ['--node', 'nosuch'], 1, 'delivers a node nosuch'],
    ['nics', ['--cluster', 'nosuch'], 1, 'names the business cluster nosuch'],
    ['nodes', ['--cluster', 'nosuch'], 1, 'the business clusters that exist: biz-1'],
    ['nodes', ['--cluster', 'biz-1', '--state', 'failed'], 0, 'No nodes.'],
    ['nodes', ['--reason', 'drifted'], 0, 'No nodes.'],
    ['nodes', ['worker-9', '--context', 'prod'], 1, 'kubectl multinic nodes --context prod'],
    ['nics', ['--reason', 'drifted', '--context', 'prod'], 0, 'multinic status --context prod'],
    ['nodes', ['--reason', 'OfNewerPart'], 0, ''],
    ['nics', ['--node', 'biz-1/worker-18', '--state', 'Failed'], 0, 'No NICs.'],
  ])('%s %j ends with %i', async (command, argv, status, text) => {
    const scene = await startScene();
    const failing = node(17, { ready: 'False', reason: 'OfNewerPart' });
    const all = [failing, node(18), node(19)];
    const ofCluster = argv.includes('nosuch') && argv.includes('--cluster') ? [] : all;
    scene.answers.set('GET /v1/nodes', { items: ofCluster });
    const ran = await scene.run(command, ...argv);
    expect(ran.status).toBe(status);
    expect(ran.err).toContain(text);
    if (status > 0) expect(ran.err).toContain('\nNext: ');
  });
});

describe('bad access', () => {
  const forbidden =
    'error: pods "x" is forbidden: User "jane" cannot create resource "pods/portforward"';
  it.each([
    ['an unknown context', {}, ['--context', 'nope'], 'context "nope" does not exist'],
    ['no operator', { withoutLease: true, withoutDeployments: true }, [], 'no operator'],
    ['no leader', { withoutLease: true }, [], 'get pods'],
    [
      'no right to port-forward',
      { forwardError: forbidden },
      [],
      '--role=multinic-reader --user=jane',
    ],
    ['no rights at all', { user: 'jane' }, [], '--user=jane'],
  ] as const)('%s ends nodes with 1 and names the next step', async (_, options, argv, text) => {
    const scene = await startScene(options);
    const ran = await scene.run('nodes', ...argv);
    expect(ran).toMatchObject({ status: 1, out: '' });
    expect(ran.err).toContain(text);
    expect(ran.err).toContain('\nNext: ');
  });

  it('status shows what it can read, and is incomplete, with an older operator', async () => {
    const scene = await startScene();
    scene.answers.delete('GET /v1/nodes');
    const { status, out } = await scene.run('status');
    expect(status).toBe(6);
    expect(out).toContain('multinic-system/storage  True');
    expect(out).toMatch(
      /^incomplete: operator \(.*\): this operator is older and lacks the route$/m,
    );
  });

  it('status of a user without rights skips everything and reports nothing as ok', async () => {
    const scene = await startScene({ user: 'jane' });
    const { status, out } = await scene.run('status');
    expect(out).not.toContain('0 findings');
    expect(status).toBe(1);
    expect(out).not.toMatch(/ ok /);
    expect(out).toContain('--clusterrole=multinic-view --user=jane');
  });

  it('a replica that does not lead is named, with the next step', async () => {
    const scene = await startScene();
    scene.answers.set('GET /v1/nodes', refused(503, 'NotLeading'));
    const ran = await scene.run('nodes');
    expect(ran).toMatchObject({ status: 1, err: textWith('wait until a replica leads') });
  });

  it('two OpenstackConfigs with one name need a namespace', async () => {
    const scene = await startScene();
    await createConfig(scene.client, {
      ...config,
      metadata: { ...config.metadata, namespace: home },
    });
    const ran = await scene.run('plan', 'storage');
    expect(ran).toMatchObject({ status: 3, err: textWith('add -n NAMESPACE') });
  });
});

describe('support-bundle', () => {
  const canary = 'Canary-Passw0rd';

  /** A scene with a password in a spec, in an annotation, in an environment variable and in a metric. */
  async function withCanaries(): Promise<CliFixture> {
    const scene = await startScene();
    const credentials = { ...config.spec.credentials, password: canary };
    await scene.client.patch(openstackConfigs, storage, {
      metadata: {
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': `{"password":"${canary}"}`,
        },
      },
      spec: { credentials },
    });
    const container = {
      name: 'main',
      image: 'x',
      env: [{ name: 'DB_PASSWORD', value: 'other-Canary' }],
    };
    const metadata = { namespace: home, name: 'multinic-operator-controller-manager-1' };
    await scene.client.create(pods, { metadata, spec: { containers: [container] } });
    scene.answers.set('GET /metrics', { text: `x ${canary} other-Canary Bearer abcdefghijkl` });
    return scene;
  }

  it('contains no planted secret, and lists what was not read', async () => {
    const scene = await withCanaries();
    const path = join(scene.folder, 'bundle.tar.gz');
    const ran = await scene.run('support-bundle', '-o', path);
    expect(ran.status).toBe(0);
    const tar = gunzipSync(await readFile(path)).toString('latin1');
    expect(tar).toContain('openstackconfigs/multinic-system/storage.json');
    expect(tar).not.toMatch(/Canary|abcdefghijkl|<script/);
    expect(ran.out).toContain(
      'skip  Controller of biz-1, Nodes of biz-1, MultiNicNodeConfigs of biz-1: no access',
    );
    const { stdout } = await promisify(execFile)('tar', ['tzf', path]);
    expect(stdout).toContain('/index.html');
    expect(await readdir(scene.folder)).not.toContain('bundle.tar.gz.partial');
  });

  it('replaces addresses, ids and names by tokens with --without addresses', async () => {
    const scene = await withCanaries();
    const path = join(scene.folder, 'bundle.tar.gz');
    await scene.run('support-bundle', '-o', path, '--without', 'logs,addresses');
    const tar = gunzipSync(await readFile(path)).toString('latin1');
    expect(tar).not.toMatch(/worker-1[789]|10\.40\.0\.|fa:16:3e|91c2d7e0-0000/);
    expect(tar).toMatch(/ip-1/);
  });

  it('leaves no file when the archive cannot be written', async () => {
    const scene = await startScene();
    const ran = await scene.run('support-bundle', '-o', '/dev/full/bundle.tar.gz');
    expect(ran).toMatchObject({ status: 3, err: textWith('cannot be written') });
  });
});
