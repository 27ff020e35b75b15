import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { changedPlan } from '../../test/fixtures/cli/plans.ts';
import {
  answerNodes,
  answerPlan,
  driftedNode,
  handleRequest,
  storage,
} from '../../test/fixtures/cli/played-operator.ts';
import { type CliFixture, home, startScene } from '../../test/fixtures/cli/scene.ts';
import { config } from '../explain/testing/healthy.ts';
import { events, pods, secrets } from '../kube/core-resources.ts';
import { openstackConfigs } from '../session/facts/kinds.ts';

const run = promisify(execFile);

/** Planted secret values by place; each value is unique. */
const canaries = Object.fromEntries(
  [
    'configPassword',
    'configUserinfo',
    'lastApplied',
    'brokerPassword',
    'brokerUrl',
    'kubeconfigToken',
    'kubeconfigKey',
    'pullSecret',
    'violaToken',
    'encryptKey',
    'tlsKey',
    'podPassword',
    'podUrl',
    'podArgument',
    'eventBearer',
    'configzKey',
    'metricsBearer',
  ].map((place, at) => [place, `Canary${at}${'x'.repeat(8)}${place}`]),
) as Record<string, string>;

function canary(place: string): string {
  const value = canaries[place];
  if (value === undefined) throw new Error(`no canary ${place}`);
  return value;
}

const privateKey = (value: string) =>
  `-----BEGIN PRIVATE KEY-----\n${value}\n-----END PRIVATE KEY-----`;

const plantedSecrets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'rabbitmq-storage': {
    RABBITMQ_PASSWORD: canary('brokerPassword'),
    RABBITMQ_URLS: `amqp://rabbit:${canary('brokerUrl')}@10.0.0.1:5672/`,
  },
  'cluster-biz-1': {
    kubeconfig: JSON.stringify({
      users: [
        {
          name: 'u',
          user: {
            token: canary('kubeconfigToken'),
            'client-key-data': canary('kubeconfigKey'),
          },
        },
      ],
    }),
  },
  registry: {
    '.dockerconfigjson': JSON.stringify({ auths: { r: { password: canary('pullSecret') } } }),
  },
  'viola-api-tokens': { token: canary('violaToken') },
  contrabass: { key: canary('encryptKey') },
  'viola-api-tls': { 'tls.key': privateKey(canary('tlsKey')) },
};

/** A scene with canaries in each Secret, in the OpenstackConfig, in a Pod, in an Event and in the operator's pages. */
async function startPlantedScene(): Promise<CliFixture> {
  const scene = await startScene();
  const { client, answers } = scene;
  for (const [name, stringData] of Object.entries(plantedSecrets)) {
    const entries = Object.entries(stringData).map(([key, value]) => [key, btoa(value)]);
    const data = Object.fromEntries(entries) as Record<string, string>;
    await client.create(secrets, { metadata: { namespace: home, name }, data });
  }
  await client.patch(openstackConfigs, storage, {
    metadata: {
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({
          spec: { credentials: { password: canary('lastApplied') } },
        }),
      },
    },
    spec: {
      credentials: { ...config.spec.credentials, password: canary('configPassword') },
      settings: {
        contrabassEndpoint: `https://admin:${canary('configUserinfo')}@contrabass.example`,
      },
    },
  });
  const container = {
    name: 'main',
    image: 'multinic:0.2.0',
    args: ['operator', `--token=${canary('podArgument')}`],
    env: [
      { name: 'DB_PASSWORD', value: canary('podPassword') },
      { name: 'AMQP_URL', value: `amqp://rabbit:${canary('podUrl')}@10.0.0.1` },
    ],
  };
  const pod = { namespace: home, name: 'multinic-operator-controller-manager-1' };
  await client.create(pods, { metadata: pod, spec: { containers: [container] } });
  await client.create(events, {
    metadata: { namespace: home, name: 'event-1' },
    message: `request with Bearer ${canary('eventBearer')} failed`,
  });
  answers.set('GET /configz', { contrabassEncryptKey: canary('configzKey') });
  answers.set('GET /metrics', { text: `Bearer ${canary('metricsBearer')}` });
  await answerPlan(scene, changedPlan);
  return scene;
}

/** Texts around canaries, as an archive has them. */
const reached = [
  'contrabassEncryptKey',
  'DB_PASSWORD',
  'https://[redacted]@contrabass.example',
  'amqp://[redacted]@',
  '--token=[redacted]',
  'request with [redacted] failed',
];

/** Returns places of canaries in a text, also in base64. */
function foundIn(text: string): string[] {
  const found = Object.entries(canaries).filter(
    ([, value]) => text.includes(value) || text.includes(btoa(value).slice(0, -4)),
  );
  return found.map(([place]) => place);
}

describe('planted secrets', () => {
  it.each([
    'status',
    'status -o wide',
    'status -o json',
    'status -o yaml',
    'nodes -o json',
    'nics -o yaml',
    'why worker-18/multinic1',
    'why worker-18/multinic1 -o json',
    'plan storage',
    'plan storage -o json',
    'doctor',
    'doctor -o json',
    'sync storage',
    'sync storage -o json',
    'diff worker-17 -o yaml',
  ])('are not in the output of %s', async (line) => {
    const scene = await startPlantedScene();
    const argv = line.split(' ');
    const isRequest = ['sync', 'diff'].includes(argv[0] ?? '');
    const handled = isRequest && handleRequest(scene, () => answerNodes(scene, driftedNode));
    const { out, err } = await scene.run(...argv);
    await handled;
    expect(out).not.toBe('');
    expect(foundIn(out + err)).toEqual([]);
  });

  it.each(['', 'addresses'])(
    'are in no file of the unpacked support bundle (--without "%s")',
    async (without) => {
      const scene = await startPlantedScene();
      const folder = join(scene.folder, 'unpacked');
      const archive = join(scene.folder, 'bundle.tar.gz');
      const argv = ['-o', archive, '--without', without, '--business-context', 'biz-1=prod'];
      const { out, err } = await scene.run('support-bundle', ...argv);
      expect(foundIn(out + err)).toEqual([]);
      await mkdir(folder);
      await run('tar', ['xzf', archive, '-C', folder]);
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      const texts = files.map(async ({ parentPath, name }) => {
        const text = await readFile(join(parentPath, name), 'utf8');
        expect({ name, found: foundIn(name + text) }).toEqual({ name, found: [] });
        return text;
      });
      const all = (await Promise.all(texts)).join('\n');
      for (const place of reached) {
        expect(all).toContain(place);
      }
    },
  );
});
