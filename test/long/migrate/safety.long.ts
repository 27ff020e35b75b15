import { chmod, copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { nodeConfigs } from '../../../rig/deployed/node-config.ts';
import { type Node, nodes } from '../../../src/kube/core-resources.ts';
import {
  applyNodeConfig,
  installController,
  nodeConfigFor,
} from '../../fixtures/migrate/legacy-objects.ts';
import { rightsMissed, rightsUsed } from '../../fixtures/migrate/observed.ts';
import {
  legacyFolder,
  type MigrationCluster,
  openSite,
  type Ran,
} from '../../fixtures/migrate/site.ts';

/** These nodes have no hosts: no agent may be sent. */
let site: MigrationCluster;
/** An administrator with this name, visible in the audit log. */
let administrator: string;
/** Rights that check reports as missing for a viewer. */
let missed: readonly string[];

const away = {
  name: 'a-b',
  systemUuid: '00000000-0000-4000-8000-00000000000a',
  macs: ['02:00:00:00:0a:01'],
};
const gone = {
  name: 'a.b',
  systemUuid: '00000000-0000-4000-8000-00000000000b',
  macs: ['02:00:00:00:0b:01'],
};

beforeAll(async () => {
  site = await openSite('safety', []);
  const { cluster, client } = site;
  administrator = await cluster.userKubeconfig('migrator', ['system:masters']);
  await cluster.kubectl(['apply', '-f', join(legacyFolder, 'multinic-agent/crds')]);
  await cluster.kubectl(['wait', '--for=condition=Established', 'crd', '--all']);
  await cluster.kubectl(['create', 'namespace', 'multinic-system']);
  await client.create<Node>(nodes, { metadata: { name: away.name } });
  await setReady(false);
  // The agent finished before the node became NotReady.
  for (const each of [away, gone]) await applyNodeConfig(site, nodeConfigFor(each));
  const status = { state: 'Configured', observedGeneration: 1, nodeReady: true };
  const target = { namespace: 'multinic-system', name: away.name };
  await client.patchStatus(nodeConfigs, target, { status });
  await installController(site);
});

afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
});

async function setReady(ready: boolean): Promise<void> {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }];
  const nodeInfo = { systemUUID: away.systemUuid, osImage: 'Ubuntu 22.04.5 LTS' };
  const rest = { machineID: '', bootID: '', kernelVersion: '', containerRuntimeVersion: '' };
  const versions = {
    kubeletVersion: '',
    kubeProxyVersion: '',
    operatingSystem: '',
    architecture: '',
  };
  const status = { conditions, nodeInfo: { ...nodeInfo, ...rest, ...versions } };
  await site.client.patchStatus<Node>(nodes, { name: away.name }, { status });
}

function migrate(verb: string, ...more: readonly string[]): Promise<Ran> {
  const folder = verb === 'check' ? [] : ['--backup', join(site.directory, 'backup'), '--yes'];
  const way = [verb, '--half', 'agent', ...folder, '--accept', 'node'];
  return site.migrate([...way, '--timeout', '60', ...more], '', administrator);
}

/** Changes by a user in the audit log; reads are left out. */
async function changesBy(user: string): Promise<string[]> {
  const looks = new Set(['get', 'list', 'watch']);
  const entries = await site.cluster.auditLog();
  return entries
    .filter((each) => each.user === user && !looks.has(each.verb) && !each.dryRun)
    .filter(({ resource }) => !resource.startsWith('self'))
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
}

describe('nothing is changed', () => {
  it('check and dry runs change nothing', async () => {
    expect(await migrate('check')).toMatchObject({ code: 0 });
    const { code, stderr } = await migrate('forward', '--dry-run');
    expect(stderr).toContain(
      'node a-b is not ready: MultiNIC takes over the node config when the node is ready',
    );
    expect(stderr).toContain('nothing was changed (--dry-run)');
    expect(code).toBe(0);
    expect(await changesBy('migrator')).toEqual([]);
  });

  it('check lists the missing rights for a viewer', async () => {
    const kubeconfig = await site.cluster.userKubeconfig('viewer');
    const binding = [
      'create',
      'clusterrolebinding',
      'viewer',
      '--clusterrole=view',
      '--user=viewer',
    ];
    await site.cluster.kubectl(binding);
    const folder = ['--backup', join(site.directory, 'viewer'), '--yes'];
    const way = ['forward', '--half', 'agent', ...folder, '--accept', 'node'];
    const { code, stderr } = await site.migrate(way, '', kubeconfig);
    missed = rightsMissed(stderr);
    expect(missed).toContain('delete clusterroles');
    expect(code).toBe(1);
    expect(await changesBy('viewer')).toEqual([]);
  });

  it('check ends with an error when the API server does not answer', async () => {
    const file = join(site.directory, 'nowhere');
    await copyFile(administrator, file);
    const set = ['--kubeconfig', file, 'config', 'set-cluster', await clusterOf(file)];
    await site.cluster.kubectl([...set, '--server=https://127.0.0.1:9']);
    const { code, stderr } = await site.migrate(['check', '--half', 'agent'], '', file);
    expect(stderr).toContain('the API server https://127.0.0.1:9 does not answer');
    expect(code).toBe(1);
  });

  it('check fails for an unknown context', async () => {
    const { code, stderr } = await migrate('check', '--context', 'no-such');
    expect(stderr).toContain('kubectl has no context no-such');
    expect(code).toBe(1);
  });

  it('a backup folder with a comma is refused', async () => {
    const { code, stderr } = await migrate('forward', '--backup', join(site.directory, 'a,b'));
    expect(stderr).toContain('must have no comma');
    expect(code).toBe(2);
  });
});

async function clusterOf(kubeconfig: string): Promise<string> {
  const path = 'jsonpath={.clusters[0].name}';
  const view = ['--kubeconfig', kubeconfig, 'config', 'view', '-o', path];
  return (await site.cluster.kubectl(view)).trim();
}

it('a run stays with the initial cluster when the current context changes', async () => {
  const file = join(site.directory, 'switched');
  await copyFile(administrator, file);
  const config = ['--kubeconfig', file, 'config'];
  await site.cluster.kubectl([...config, 'set-cluster', 'other', '--server=https://127.0.0.1:9']);
  await site.cluster.kubectl([...config, 'set-context', 'other', '--cluster=other']);
  const tools = join(site.directory, 'tools');
  await mkdir(tools);
  const kubectl = await toolPath('kubectl');
  const switches = `[[ "$*" != *.status.allowed* ]] || ${kubectl} config use-context other >/dev/null`;
  await writeFile(
    join(tools, 'kubectl'),
    `#!/usr/bin/env bash\n${switches}\nexec ${kubectl} "$@"\n`,
  );
  await chmod(join(tools, 'kubectl'), 0o755);
  const ran = await site.migrate(['check', '--half', 'agent', '--accept', 'node'], tools, file);
  expect(ran.stderr).toContain('no obstacle found');
});

describe('forward with a node that is NotReady, and a removed node with a similar name', () => {
  it('forward does not wait for these nodes', async () => {
    const { code, stderr } = await migrate('forward');
    expect(stderr).toContain('MultiNIC takes over a-b when the node is ready');
    expect(stderr).toContain(
      'a.b is False NodeNotFound and was not Configured before the migration',
    );
    expect(code).toBe(0);
  });

  it('only the owner can read the backup, because it has Secrets', async () => {
    const folder = join(site.directory, 'backup');
    const files = await readdir(folder, { recursive: true });
    const modes = await Promise.all(
      files.map(async (file) => (await stat(join(folder, file))).mode),
    );
    expect(files.length).toBeGreaterThan(8);
    expect(modes.filter((mode) => (mode & 0o077) !== 0)).toEqual([]);
  });

  it('a dry run of back changes nothing', async () => {
    const before = await changesBy('migrator');
    const { code, stderr } = await migrate('back', '--dry-run');
    expect(stderr).toMatch(
      /\+ kube create --raw \/apis\/apps\/v1\/namespaces\/multinic-system\/deployments /,
    );
    expect(stderr).toContain('nothing was changed (--dry-run)');
    expect(code).toBe(0);
    expect(await changesBy('migrator')).toEqual(before);
  });
});

async function otherController(): Promise<string> {
  const path = "jsonpath={.status.conditions[?(@.type=='OtherControllerActive')].status}";
  return site.cluster.kubectl(['-n', 'multinic-system', 'get', 'mnnc', gone.name, '-o', path]);
}

describe('when the legacy controller is back', () => {
  it('MultiNIC yields to a returned legacy controller, and forward refuses to continue', async () => {
    // Pod Security level restricted would not admit the legacy controller.
    const level = 'pod-security.kubernetes.io/enforce=privileged';
    await site.cluster.kubectl(['label', 'namespace', 'multinic-system', '--overwrite', level]);
    await installController(site, 'old', '--skip-crds');
    await expect.poll(otherController, { timeout: 120_000 }).toBe('True');
    const { code, stderr } = await migrate('forward');
    expect(stderr).toContain(
      'Deployment multinic-system/old-controller is part of the legacy system and younger than the backup',
    );
    expect(code).toBe(1);
  });

  it('forward continues after the legacy controller is uninstalled', async () => {
    await site.helm('uninstall', 'old', '-n', 'multinic-system', '--wait');
    expect((await migrate('forward')).stderr).toContain('done: MultiNIC manages 2 node configs');
    expect(await otherController()).not.toBe('True');
  });

  it('forward repairs a release that the legacy helm chart partly replaced', async () => {
    await expect(installController(site)).rejects.toThrow('spec.selector');
    expect((await migrate('forward')).stderr).toContain('done: MultiNIC manages 2 node configs');
    expect(await manifest()).toContain('multinic-controllers:');
  });
});

it('the controller sends an agent when the node becomes ready', async () => {
  await setReady(true);
  await expect
    .poll(() => site.cluster.kubectl(['-n', 'multinic-agents', 'get', 'jobs', '-o', 'name']), {
      timeout: 120_000,
    })
    .toContain('multinic-agent-a-b-');
});

it('back succeeds with a pending agent', async () => {
  expect((await migrate('back')).stderr).toContain(
    'done: the legacy controller manages this cluster',
  );
  expect(await manifest()).not.toContain('multinic-controllers:');
});

it('check verifies every right that the migration uses', async () => {
  expect((await migrate('forward', '--backup', join(site.directory, 'again'))).code).toBe(0);
  const backup = ['--backup', join(site.directory, 'again')];
  expect((await migrate('back', ...backup, '--crds')).code).toBe(0);
  const used = await rightsUsed(site, 'migrator');
  expect(used.length).toBeGreaterThan(20);
  expect(used.filter((right) => !missed.includes(right))).toEqual([]);
});

function manifest(): Promise<string> {
  return site.helm('get', 'manifest', 'multinic-agent', '-n', 'multinic-system');
}
