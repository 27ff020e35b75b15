import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  createConfig,
  home,
  type Refused,
  type Scene,
  startScene,
} from '../../test/fixtures/cli/scene.ts';
import { annotations } from '../api/names.ts';
import { config, nic, node, port } from '../explain/testing/healthy.ts';
import { pods } from '../kube/core-resources.ts';
import { openstackConfigs } from './facts/kinds.ts';

const ref = { namespace: 'multinic-system', name: 'storage' };
const refused = (status: number, code: string): Refused => ({
  status,
  code,
  detail: `the ${code}`,
});
const failed = node(18, {
  ready: 'False',
  state: 'Failed',
  reason: 'NICInUse',
  nics: [
    nic(18, 0),
    nic(18, 1, {
      state: 'Failed',
      reason: 'NICInUse',
      message: 'link ens8 has the foreign address 10.7.0.1/24',
    }),
  ],
});
const drifted = node(17, {
  drifted: true,
  reason: 'Drifted',
  checkedAt: '2026-11-26T05:24:50Z',
  nics: [
    nic(17, 0, {
      reason: 'Drifted',
      message: 'an apply would: link set mtu 1450; rule add from 10.20.0.17/32',
    }),
    nic(17, 1),
  ],
});

/** Replaces the answers about nodes. */
function answerNodes({ answers }: Scene, ...nodes: ReturnType<typeof node>[]): void {
  answers.set('GET /v1/nodes', { items: nodes });
  for (const each of nodes) answers.set(`GET /v1/nodes/biz-1/${each.nodeName}`, each);
}

const idSchema = z.object({ id: z.string() });
const idOf = (text: string) => idSchema.parse(JSON.parse(text)).id;

/** Asymmetric matcher with the type of its place. */
const textWith = (text: string): string => expect.stringContaining(text) as string;

/** Plays the operator: handles the annotations as soon as they change. */
async function handle({ client, answers }: Scene, after: () => void = () => undefined) {
  const { metadata } = await client.get(openstackConfigs, ref);
  const { resourceVersion = '' } = metadata;
  for await (const event of client.watch(openstackConfigs, { resourceVersion })) {
    if (event.type !== 'MODIFIED') continue;
    const given = event.object.metadata.annotations ?? {};
    const check = given[annotations.checkNodes];
    const at = given[annotations.reconcileAt];
    after();
    await client.patchStatus(openstackConfigs, ref, {
      status: {
        ...(at === undefined ? {} : { lastHandledReconcileAt: at }),
        ...(check === undefined ? {} : { lastHandledCheckNodes: idOf(check) }),
      },
    });
    answers.set('handled', { check });
    return;
  }
}

const plan = {
  config: 'multinic-system/storage',
  generation: 1,
  calculatedAt: '2026-11-26T05:25:00Z',
  servers: 120,
  ports: 361,
  nodes: [],
  unchanged: 3,
  heldRemovals: 0,
  problems: [],
  verdicts: [],
  agentJobs: 0,
  hash: '7c1f20d9aa',
};

describe('exit status', () => {
  it.each([
    ['status', [], 0],
    ['nodes', [], 0],
    ['nodes', ['-o', 'nonsense'], 2],
    ['nics', ['--state', 'Unused'], 0],
    ['why', ['worker-18/multinic1'], 0],
    ['why', ['10.40.0.18'], 0],
    ['why', ['not a target'], 2],
    ['why', ['worker-99'], 3],
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
    answerNodes(scene, failed);
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
        ...plan,
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

describe('sync and diff', () => {
  it('sync sets reconcile-at, and returns when the operator has handled it', async () => {
    const scene = await startScene();
    const handled = handle(scene);
    const ran = await scene.run('sync', 'storage');
    await handled;
    expect(ran).toMatchObject({ status: 0, out: textWith('was synced: Ready True NoChange') });
  });

  it('diff requests a check of its node, waits for the result and ends with 4', async () => {
    const scene = await startScene();
    const handled = handle(scene, () => answerNodes(scene, drifted));
    const ran = await scene.run('diff', 'worker-17');
    await handled;
    expect(scene.answers.get('handled')).toMatchObject({
      check: textWith('"nodes":["worker-17"]'),
    });
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

  it('sync --node waits for the repair after a check found drift', async () => {
    const scene = await startScene();
    let reads = 0;
    const healed = node(17, { checkedAt: '2026-11-26T05:24:52Z' });
    const read = () => (reads++ === 0 ? drifted : healed);
    const handled = handle(scene, () => scene.answers.set('GET /v1/nodes/biz-1/worker-17', read));
    const ran = await scene.run('sync', '--node', 'worker-17');
    await handled;
    expect(ran).toMatchObject({ status: 0, out: textWith('is as planned') });
  });

  it('a request that the operator does not handle ends with 3 after --timeout', async () => {
    const scene = await startScene();
    const ran = await scene.run('sync', 'storage', '--timeout', '10ms');
    expect(ran).toMatchObject({ status: 3, err: textWith('Next: ') });
  });
});

describe('bad access', () => {
  const forbidden =
    'error: pods "x" is forbidden: User "jane" cannot create resource "pods/portforward"';
  it.each([
    ['an unknown context', {}, ['--context', 'nope'], 'context "nope" does not exist'],
    ['no operator', { withoutLease: true }, [], 'no operator'],
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

  it('status shows what it can read, and what is missing as skipped, with an older operator', async () => {
    const scene = await startScene();
    scene.answers.delete('GET /v1/nodes');
    const { status, out } = await scene.run('status');
    expect(status).toBe(0);
    expect(out).toContain('multinic-system/storage  True');
    expect(out).toContain('skip  Nodes: this operator is older and lacks the route');
  });

  it('status of a user without rights skips everything and reports nothing as ok', async () => {
    const scene = await startScene({ user: 'jane' });
    const { status, out } = await scene.run('status');
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
  async function withCanaries(): Promise<Scene> {
    const scene = await startScene();
    const credentials = { ...config.spec.credentials, password: canary };
    await scene.client.patch(openstackConfigs, ref, {
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
    expect(ran.out).toContain('skip  Nodes of biz-1: no access');
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
