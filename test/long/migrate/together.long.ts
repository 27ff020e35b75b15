import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { installController } from '../../fixtures/migrate/legacy-objects.ts';
import { mortalTools } from '../../fixtures/migrate/mortal-tools.ts';
import { type MigrationCluster, openSite, type Ran, root } from '../../fixtures/migrate/site.ts';

/** Node configs are missing: these tests are about the legacy Deployment. */
let site: MigrationCluster;

beforeAll(async () => {
  site = await openSite('together', []);
  await site.cluster.kubectl(['create', 'namespace', 'elsewhere']);
  const secret = ['create', 'secret', 'docker-registry', 'registry', '-n', 'elsewhere'];
  const account = ['--docker-server=registry.example.com', '--docker-username=it'];
  await site.cluster.kubectl([...secret, ...account, '--docker-password=it']);
});

afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
});

function way(verb: string, backup: string): string[] {
  return [verb, '--half', 'agent', '--backup', join(site.directory, backup), '--yes'];
}

/** spec.replicas of the legacy Deployment; undefined: no Deployment. */
async function replicas(namespace: string): Promise<number | undefined> {
  const get = ['get', 'deployment', 'multinic-agent-controller', '-n', namespace];
  const text = await site.cluster.kubectl([...get, '--ignore-not-found', '-o', 'json']);
  if (text === '') return undefined;
  const { metadata, spec } = JSON.parse(text) as {
    readonly metadata: { readonly labels: Record<string, string> };
    readonly spec: { readonly replicas: number };
  };
  return metadata.labels['app.kubernetes.io/part-of'] === 'multinic' ? undefined : spec.replicas;
}

/** Runs forward up to the confirmation, runs `other` meanwhile, then confirms. */
async function forwardWhile(folder: string, backup: string, other: string): Promise<Ran> {
  const tools = join(site.directory, folder);
  await mkdir(tools);
  const kubectl = await toolPath('kubectl');
  const hook = `[[ " $* " != *' --show-managed-fields '* ]] || ! mkdir ${tools}/seen 2>/dev/null || ${other}`;
  const script = `#!/usr/bin/env bash\n${hook} >${tools}/said 2>&1\nexec ${kubectl} "$@"\n`;
  await writeFile(join(tools, 'kubectl'), script);
  await chmod(join(tools, 'kubectl'), 0o755);
  return site.migrate(way('forward', backup), tools);
}

describe('concurrent migrations of a cluster', () => {
  beforeEach(async () => {
    if ((await replicas('multinic-system')) === undefined) await installController(site);
  });

  it('a second run with the same backup folder leaves the first backup unchanged', async () => {
    const real = dirname(await toolPath('kubectl'));
    const other = `PATH=${real}:$PATH ${root}/scripts/migrate.sh ${way('forward', 'same').join(' ')}`;
    const { code, stderr } = await forwardWhile('first', 'same', other);
    expect(stderr).toMatch(/another run has started the migration with .*same meanwhile/);
    expect(code).toBe(1);
    const rows = (await readFile(join(site.directory, 'same/objects'), 'utf8')).trim().split('\n');
    const files = await readdir(join(site.directory, 'same/files'));
    expect(files.toSorted()).toEqual(rows.map((row) => row.split('/').at(-1)));
    expect(await site.migrate(way('back', 'same'))).toMatchObject({ code: 0 });
    expect(await replicas('multinic-system')).toBe(1);
  });

  it('after the legacy system is stopped, only the first backup is accepted', async () => {
    const mortal = await mortalTools(join(site.directory, 'mortal'));
    await mortal.dieAt(/ scale deployment /);
    const other = `PATH=${mortal.path}:$PATH ${root}/scripts/migrate.sh ${way('forward', 'before').join(' ')}`;
    const { code, stderr } = await forwardWhile('second', 'after', other);
    expect(stderr).toContain('another run has started the migration of this cluster meanwhile');
    expect(code).toBe(1);
    expect(await replicas('multinic-system')).toBe(0);
    expect((await site.migrate(way('forward', 'after'))).stderr).toMatch(
      /this cluster is being migrated with the backup .*before, not with .*after/,
    );
    expect(await site.migrate(way('back', 'before'))).toMatchObject({ code: 0 });
    expect(await replicas('multinic-system')).toBe(1);
  });

  it('back ends with an error while another run uses the backup', async () => {
    const holder = spawn('flock', [join(site.directory, 'before'), 'cat'], { stdio: 'pipe' });
    holder.stdin.write('held\n');
    await once(holder.stdout, 'data');
    const { code, stderr } = await site.migrate(way('back', 'before'));
    holder.stdin.end();
    expect(stderr).toContain('another run uses the backup');
    expect(code).toBe(1);
  });
});

describe('a legacy controller in a separate namespace with pull Secrets', () => {
  /** A Job without status. */
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'multinic-agent-worker-1-g1',
      namespace: 'elsewhere',
      labels: { 'app.kubernetes.io/managed-by': 'multinic-controller' },
    },
    spec: {
      managedBy: 'example.com/nobody',
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'it', image: 'any' }] },
      },
    },
  };
  const pulls = ['--set', 'imagePullSecrets[0].name=registry'];

  beforeAll(async () => {
    await site.helm('uninstall', 'multinic-agent', '-n', 'multinic-system', '--wait');
    await site.cluster.kubectl(['delete', 'namespace', 'multinic-system', 'multinic-agents']);
    const where = ['--namespace', 'elsewhere', '--skip-crds'];
    await installController(site, 'multinic-agent', ...where, ...pulls);
  });

  it('migrate check reports a Deployment that Argo CD manages, known only by its field manager', async () => {
    const note = ['-n', 'elsewhere', 'annotate', '--field-manager=argocd-controller'];
    const controller = ['deployment', 'multinic-agent-controller'];
    await site.cluster.kubectl([...note, ...controller, 'example.com/note=it']);
    const { stderr } = await site.migrate(['check', '--half', 'agent']);
    expect(stderr).toContain('Deployment elsewhere/multinic-agent-controller by argocd-controller');
    await site.cluster.kubectl([...note, ...controller, 'example.com/note-']);
  });

  it('forward waits for a legacy Job that has not started', async () => {
    await site.cluster.kubectl(['create', '-f', '-'], JSON.stringify(job));
    const accept = ['--accept', 'namespace', '--timeout', '1'];
    const { code, stderr } = await site.migrate([...way('forward', 'elsewhere'), ...accept]);
    expect(stderr).toContain('agents of the legacy controller are still running');
    expect(code).toBe(1);
    await site.cluster.kubectl(['delete', 'job', '-n', 'elsewhere', 'multinic-agent-worker-1-g1']);
  });

  it("forward creates MultiNIC's missing namespace", async () => {
    const { code, stderr } = await site.migrate([
      ...way('forward', 'elsewhere'),
      '--accept',
      'namespace',
    ]);
    expect(stderr).toContain('done: MultiNIC manages 0 node configs');
    expect(code).toBe(0);
    for (const namespace of ['multinic-system', 'multinic-agents']) {
      const get = ['get', 'secret', 'registry', '-n', namespace, '-o', 'name'];
      expect(await site.cluster.kubectl(get)).toBe('secret/registry\n');
    }
  });

  it('forward recovers from a helm killed during the upgrade', async () => {
    const mortal = await mortalTools(join(site.directory, 'mortal-helm'));
    await mortal.dieAt(/^middle .*upgrade .*values\.yaml$/);
    await site.migrate(way('forward', 'elsewhere'), mortal.path);
    const { code, stderr } = await site.migrate(way('forward', 'elsewhere'));
    expect(stderr).toContain('an earlier helm run was interrupted (pending-upgrade)');
    expect(code).toBe(0);
  });

  it('back restores the legacy controller in its namespace', async () => {
    expect(await site.migrate(way('back', 'elsewhere'))).toMatchObject({ code: 0 });
    expect(await replicas('elsewhere')).toBe(1);
  });
});

it.each([
  ['check', '--half'],
  ['forward', '--half', 'agent', '--backup'],
])('an option without value is an error: %s %s', async (...args) => {
  const { code, stderr } = await site.migrate(args);
  expect(stderr).toContain(`${args.at(-1)} needs a value`);
  expect(code).toBe(2);
});
