import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Node, nodes } from '../../../src/kube/core-resources.ts';
import { installController } from '../../fixtures/migrate/legacy-objects.ts';
import { type MigrationCluster, openSite, type Ran } from '../../fixtures/migrate/site.ts';

let site: MigrationCluster;

beforeAll(async () => {
  site = await openSite('check', []);
});

afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
});

function check(...more: readonly string[]): Promise<Ran> {
  return site.migrate(['check', '--half', 'agent', ...more]);
}

async function node(
  name: string,
  systemUUID: string,
  osImage = 'Ubuntu 22.04.5 LTS',
): Promise<void> {
  await site.client.create<Node>(nodes, { metadata: { name } });
  const info = { machineID: '', bootID: '', kernelVersion: '', containerRuntimeVersion: '' };
  const versions = {
    kubeletVersion: '',
    kubeProxyVersion: '',
    operatingSystem: '',
    architecture: '',
  };
  const status = { nodeInfo: { ...info, ...versions, systemUUID, osImage } };
  await site.client.patchStatus<Node>(nodes, { name }, { status });
}

function uuid(n: number): string {
  return `00000000-0000-4000-8000-00000000000${n}`;
}

interface Entry {
  readonly id?: number;
  readonly name?: string;
  readonly macAddress?: string;
  readonly address?: string;
  readonly cidr?: string;
}

const good: Entry = {
  name: 'multinic0',
  macAddress: 'fa:16:3e:00:00:01',
  address: '10.0.0.1',
  cidr: '10.0.0.0/24',
};

async function config(
  name: string,
  instanceId: string,
  { interfaces = [good], namespace = 'multinic-system' } = {},
): Promise<void> {
  const object = {
    apiVersion: 'multinic.io/v1alpha1',
    kind: 'MultiNicNodeConfig',
    metadata: { name, namespace },
    spec: { nodeName: name, instanceId, interfaces },
  };
  await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(object));
}

/** Obstacles with this code. */
function obstaclesWith(output: string, code: string): string {
  return output
    .split('  - [')
    .filter((text) => text.startsWith(`${code}] `))
    .join('');
}

it('check reports a missing legacy system', async () => {
  const { code, stderr } = await check();
  expect(code).toBe(1);
  expect(obstaclesWith(stderr, 'nothing')).toContain(
    'install MultiNIC: scripts/build-and-deploy.sh',
  );
});

describe('a cluster with obstacles', () => {
  let output: string;
  let status: number;

  beforeAll(async () => {
    await installController(site);
    await node('fine', uuid(1));
    await node('shared', uuid(2));
    await node('red', uuid(3), 'Rocky Linux 9.4 (Blue Onyx)');
    await node('twin-1', uuid(4));
    await node('twin-2', uuid(4));
    await config('fine', uuid(1).toUpperCase(), {
      interfaces: [
        good,
        { ...good, id: 1, name: 'multinic1', address: '10.0.0.2' },
        { ...good, name: 'multinic2', macAddress: 'fa:16:3e:00:00:02', address: '10.0.1.2' },
        { ...good, name: 'multinic12', macAddress: 'fa:16:3e:00:00:03', address: '10.0.0.3' },
        { name: 'multinic4', macAddress: 'fa:16:3e:00:00:04' },
        {
          name: 'multinic5',
          macAddress: 'fa:16:3e:00:00:05',
          address: '10.0.0.256',
          cidr: '10.0.0.0/8',
        },
        { ...good, name: 'multinic06', macAddress: 'fa:16:3e:00:00:06', address: '10.0.0.6' },
      ],
    });
    await config('shared', uuid(2));
    await config('shared-again', uuid(2));
    await config('red', uuid(3));
    await config('gone', uuid(9));
    await site.cluster.kubectl(['create', 'namespace', 'elsewhere']);
    await config('stray', uuid(1), { namespace: 'elsewhere' });
    await config('held', uuid(1));
    const target = ['-n', 'multinic-system', 'mnnc', 'held'];
    const hold = JSON.stringify({ metadata: { finalizers: ['example.com/held'] } });
    await site.cluster.kubectl(['patch', ...target, '--type=merge', '-p', hold]);
    await site.cluster.kubectl(['delete', ...target, '--wait=false']);
    const controller = ['-n', 'multinic-system', 'deployment', 'multinic-agent-controller'];
    await site.cluster.kubectl(['label', ...controller, 'argocd.argoproj.io/instance=networking']);
    await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(daemonSet));
    await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(strayPod));
    const ran = await check();
    output = ran.stderr;
    status = ran.code;
  });

  const nowhere = { nodeSelector: { 'example.com/no': 'such-node' } };
  const daemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'multinic-agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'multinic-agent' } },
      template: {
        metadata: { labels: { app: 'multinic-agent' } },
        spec: {
          ...nowhere,
          containers: [{ name: 'agent', image: 'registry.example.com/multinic-agent:0.9' }],
        },
      },
    },
  };
  const strayPod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'by-hand', namespace: 'default' },
    spec: {
      ...nowhere,
      containers: [{ name: 'it', image: 'any', command: ['/opt/multinic-controller'] }],
    },
  };

  it('check exits with 1 and counts the obstacles', () => {
    expect(status).toBe(1);
    expect(output).toContain('obstacles to the migration: 10 (above)');
  });

  it.each([
    ['gitops', 'Deployment multinic-system/multinic-agent-controller by networking'],
    ['daemonset', 'DaemonSet default/multinic-agent'],
    ['stray', 'Pod default/by-hand'],
    ['uuid', '00000000-0000-4000-8000-000000000004: twin-1 and twin-2'],
    ['node', 'gone: instanceId 00000000-0000-4000-8000-000000000009, nodeName gone'],
    ['duplicates', 'shared: shared and shared-again'],
    ['os', 'red: Rocky Linux 9.4 (Blue Onyx)'],
    ['elsewhere', 'elsewhere/stray'],
    ['leaving', 'held'],
    ['entries', 'fine interfaces[1]: MAC fa:16:3e:00:00:01 is claimed by interfaces[0] too'],
    ['entries', 'fine interfaces[2]: address 10.0.1.2 and cidr 10.0.0.0/24 do not fit'],
    ['entries', 'fine interfaces[3]: name multinic12 is not within multinic0 to multinic9'],
    ['entries', 'fine interfaces[4]: address and cidr are missing'],
    ['entries', 'fine interfaces[5]: address 10.0.0.256 and cidr 10.0.0.0/8 do not fit'],
  ])('check reports %s: %s', (code, item) => {
    expect(obstaclesWith(output, code)).toContain(`\n      ${item}\n`);
  });

  it('check reports no obstacle for valid objects', () => {
    expect(output).toContain('legacy controller: multinic-system/multinic-agent-controller');
    expect(output).not.toContain('fine interfaces[0]');
    expect(output).not.toContain('fine interfaces[6]');
    expect(obstaclesWith(output, 'duplicates')).not.toContain('fine');
  });

  it('check succeeds when all obstacles are accepted', async () => {
    const codes = /--accept (\S+)/.exec(output)?.[1] ?? '';
    const { code, stderr } = await check('--accept', codes);
    expect(stderr).toContain('no obstacle found');
    expect(stderr).toContain('accepted, [gitops]');
    expect(code).toBe(0);
  });

  it('a dry run of forward leaves the cluster unchanged', async () => {
    const codes = /--accept (\S+)/.exec(output)?.[1] ?? '';
    const objects = ['get', 'all,secrets,cm,mnnc,crd', '-A', '-o', 'name'];
    const before = await site.cluster.kubectl(objects);
    const backup = ['--backup', `${site.directory}/dry`];
    const way = ['forward', '--half', 'agent', ...backup, '--accept', codes];
    const { code, stderr } = await site.migrate([...way, '--dry-run']);
    expect(stderr).toContain(
      '+ kube -n multinic-system scale deployment multinic-agent-controller --replicas=0',
    );
    expect(stderr).toContain('+ helm upgrade --install multinic-agent');
    expect(stderr).toContain('nothing was changed (--dry-run)');
    expect(code).toBe(0);
    expect(await site.cluster.kubectl(objects)).toBe(before);
  });
});
