import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { type Node, startNode } from '../../../rig/control-plane/node.ts';
import { scaled } from '../../speed.ts';
import { openReader, type Reader } from '../e2e/guide/reader.ts';

// Releases from two commits, built, installed and upgraded as a user does.

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const guide = 'docs/guides/upgrade.md';
const upgrade = '3. Business clusters, then the management cluster';
const [ofBusiness, ofManagement] = [/BUSINESS_KUBECONFIG/, /MANAGEMENT_KUBECONFIG/];
const mac = '02:00:00:00:01:01';

interface Release {
  readonly folder: string;
  readonly version: string;
}

const stack = new AsyncDisposableStack();
let management: ControlPlane;
let business: ControlPlane;
let worker: Node;
let reader: Reader;
let former: Release;
let next: Release;
const instanceId = randomUUID();

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'multinic-releases-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const began = performance.now();
  const [releases] = await Promise.all([makeReleases(directory), startClusters()]);
  [former, next] = releases;
  const manager = stack.use(await startNode(management, 'manager-1', { kind: 'namespace' }));
  const options = { kind: 'box', profile: 'netplan', systemUUID: instanceId } as const;
  worker = stack.use(await startNode(business, 'worker-1', options));
  await worker.plug('ens1', mac);
  for (const release of releases) {
    await manager.importImage(archiveOf(release, 'multinic-controllers'));
    await worker.importImage(archiveOf(release, 'multinic-controllers'));
    await worker.importImage(archiveOf(release, 'multinic-agent'));
  }
  reader = await openReader(directory, { management, business });
  await writeFile(join(reader.home, 'values.yaml'), '{}');
  process.stdout.write(`releases: ${Math.round((performance.now() - began) / 1000)} s\n`);
});

afterAll(() => stack.disposeAsync());

async function startClusters(): Promise<void> {
  [management, business] = await Promise.all(
    ['relmgmt', 'relbiz'].map(async (name) =>
      stack.use(await startControlPlane(name, { pods: true })),
    ) as [Promise<ControlPlane>, Promise<ControlPlane>],
  );
}

/** Builds releases from HEAD and a later commit. */
async function makeReleases(directory: string): Promise<readonly [Release, Release]> {
  const checkout = join(directory, 'repository');
  const git = (...words: readonly string[]) =>
    run('git', ['-C', checkout, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words]);
  await run('git', ['clone', '--quiet', root, checkout]);
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  const build = async (name: string): Promise<Release> => {
    const folder = join(directory, name);
    const script = join(checkout, 'build/image/release/build.ts');
    await run(process.execPath, [script, '--out', folder], { cwd: checkout });
    return { folder, version: (await readFile(join(folder, 'VERSION'), 'utf8')).trim() };
  };
  const first = await build('former');
  await git('commit', '--quiet', '--allow-empty', '--message', 'next');
  return [first, await build('next')];
}

function archiveOf({ folder, version }: Release, name: string): string {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  return join(folder, 'images', `${name}-${version}-linux-${architecture}.tar`);
}

/** Opens the guide with a release's files. */
async function openGuide({ folder }: Release): Promise<void> {
  const values = join(reader.home, 'values.yaml');
  const exported = {
    RELEASE: folder,
    ENVIRONMENT: 'dev',
    AGENT_VALUES: values,
    OPERATOR_VALUES: values,
  };
  await reader.open(guide, { exported });
}

/** Checks and unpacks the release; test/system/e2e/guides.test.ts runs the dry runs of this section. */
async function unpack(): Promise<void> {
  await reader.follow(guide, '1. Read the changes', /^kubectl|--dry-run/);
}

interface Listed {
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly uid: string;
      readonly creationTimestamp: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly deletionTimestamp?: string;
    };
    readonly spec: {
      readonly containers?: readonly { readonly image: string }[];
      readonly template?: { readonly spec: { readonly containers: [{ readonly image: string }] } };
    };
  }[];
}

async function list(cluster: ControlPlane, ...words: readonly string[]): Promise<Listed['items']> {
  const text = await cluster.kubectl(['get', ...words, '-o', 'json']);
  return (JSON.parse(text) as Listed).items;
}

const ours = ['-A', '-l', 'app.kubernetes.io/part-of=multinic'];

/** Images and labels for all Deployments: `NAME IMAGE VERSION`. */
async function deployments(): Promise<string[]> {
  const both = await Promise.all(
    [management, business].map((cluster) => list(cluster, 'deployments', ...ours)),
  );
  return both.flat().map(({ metadata, spec }) => {
    const image = spec.template?.spec.containers[0].image;
    return `${metadata.name} ${image} ${metadata.labels?.['app.kubernetes.io/version']}`;
  });
}

/** Version printed in each Deployment's Pod. */
async function versionsInPods(): Promise<string[]> {
  const print = ['--', '/usr/local/bin/node', '/app/main.mjs', 'version'];
  const places = [
    [management, 'multinic-operator-system', 'multinic-operator-controller-manager'],
    [management, 'multinic-operator-system', 'viola-api'],
    [business, 'multinic-system', 'multinic-agent-controller'],
  ] as const;
  const printed = places.map(([cluster, namespace, name]) =>
    cluster.kubectl(['-n', namespace, 'exec', `deployment/${name}`, ...print]),
  );
  return (await Promise.all(printed)).map((text) => text.split('\n')[0] ?? '');
}

async function expectInstalled({ version }: Release): Promise<void> {
  const image = `localhost/multinic-controllers:${version} ${version}`;
  expect((await deployments()).toSorted()).toEqual([
    `multinic-agent-controller ${image}`,
    `multinic-operator-controller-manager ${image}`,
    `viola-api ${image}`,
  ]);
  expect(await versionsInPods()).toEqual(Array(3).fill(`multinic ${version}`));
}

/** Applies a node config with this MTU, and returns the agent's image. */
async function agentThatSets(mtu: number): Promise<string | undefined> {
  const nic = { portId: 'port-1', macAddress: mac, address: '10.77.0.10', cidr: '10.77.0.0/24' };
  const object = {
    apiVersion: 'multinic.io/v1',
    kind: 'MultiNicNodeConfig',
    metadata: { name: worker.name, namespace: 'multinic-system' },
    spec: { nodeName: worker.name, instanceId, interfaces: [{ ...nic, name: 'multinic0', mtu }] },
  };
  await business.kubectl(['apply', '-f', '-'], JSON.stringify(object));
  await vi.waitFor(
    async () => expect(await worker.sh(['cat', '/sys/class/net/multinic0/mtu'])).toBe(`${mtu}\n`),
    { timeout: scaled(60_000), interval: 250 },
  );
  const jobs = await list(business, 'jobs', '-n', 'multinic-agents');
  const [newest] = jobs.toSorted((a, b) =>
    b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp),
  );
  return newest?.spec.template?.spec.containers[0].image;
}

/** The first agent run creates the NIC, later runs change the MTU. */
async function expectAgentOf({ version }: Release, mtu: number): Promise<void> {
  expect(await agentThatSets(mtu)).toBe(`localhost/multinic-agent:${version}`);
}

async function podIds(): Promise<string[]> {
  const both = await Promise.all(
    [management, business].map((cluster) => list(cluster, 'pods', ...ours)),
  );
  return both.flatMap((pods) => pods.map(({ metadata }) => metadata.uid)).toSorted();
}

it('the release of a commit is installed with its version', async () => {
  expect(next.version).not.toBe(former.version);
  await openGuide(former);
  await unpack();
  const output = await reader.follow(guide, upgrade);
  expect(output.match(/^version: .*$/gm)).toEqual(Array(2).fill(`version: ${former.version}`));
  await expectInstalled(former);
  await expectAgentOf(former, 1500);
});

it('every Deployment and agent Job runs the release of the next commit after the upgrade', async () => {
  await openGuide(next);
  await unpack();
  const output = await reader.follow(guide, upgrade);
  const step = `version: ${former.version} -> ${next.version}`;
  expect(output.match(/^version: .*$/gm)).toEqual([step, step]);
  await expectInstalled(next);
  await expectAgentOf(next, 1400);
});

async function userAgents(cluster: ControlPlane): Promise<ReadonlySet<string>> {
  return new Set((await cluster.auditLog()).map(({ userAgent }) => userAgent));
}

it('requests of each part name its version', async () => {
  const [inManagement, inBusiness] = [await userAgents(management), await userAgents(business)];
  for (const { version } of [former, next]) {
    expect(inManagement).toContain(`multinic-operator/${version}`);
    expect(inManagement).toContain(`multinic-viola/${version}`);
    expect(inBusiness).toContain(`multinic-controller/${version}`);
  }
});

it('an upgrade to the same version says so and replaces no Pod', async () => {
  const before = await podIds();
  const output = await reader.follow(guide, upgrade);
  expect(output.match(/^version: .*$/gm)).toEqual(
    Array(2).fill(
      `version: ${next.version} is installed already; only changed values have an effect`,
    ),
  );
  expect(output.match(/^no change: the Deployments of version /gm)).toHaveLength(2);
  expect(await podIds()).toEqual(before);
});

it('every Deployment and agent Job runs the former release after going back', async () => {
  await openGuide(former);
  await reader.follow(guide, upgrade, ofBusiness);
  await reader.follow(guide, upgrade, ofManagement);
  await expectInstalled(former);
  await expectAgentOf(former, 1450);
});
