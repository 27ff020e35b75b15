import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { scaled } from '../../speed.ts';
import { cleanupAgentTests } from './cleanup-agent-tests.ts';
import { definitionsFirstTests } from './definitions-first-tests.ts';
import { openScriptsSite, type ScriptsSite, withoutPods } from './scripts-site.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const home = ['-n', 'multinic-operator-system'];
const operator = [...home, 'deployment', 'multinic-operator-controller-manager'];
const kind = 'openstackconfigs.multinic.example.com';

let site: ScriptsSite;

beforeAll(async () => {
  site = await openScriptsSite('itscripts');
});

afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
});

async function deploy(...args: readonly string[]): Promise<string> {
  const { code, output } = await site.run('deploy-operator.sh', [...args, ...withoutPods]);
  expect(code, output).toBe(0);
  return output;
}

function ofOperator(path: string): Promise<string> {
  return site.value(`{.spec.template.${path}}`, ...operator);
}

const keyReference =
  'spec.containers[0].env[?(@.name=="CONTRABASS_ENCRYPT_KEY")].valueFrom.secretKeyRef.name';
const endpoint = 'spec.containers[0].env[?(@.name=="CONTRABASS_ENDPOINT")].value';
const keyVersion = 'metadata.annotations.multinic\\.io/contrabass-key';

async function isInstalled(): Promise<boolean> {
  return (await site.value('{.metadata.name}', ...operator)) !== '';
}

async function writes(): Promise<string[]> {
  const reading = ['get', 'list', 'watch'];
  return (await site.cluster.auditLog())
    .filter(
      ({ verb, userAgent }) => !reading.includes(verb) && /^(kubectl|[Hh]elm)/.test(userAgent),
    )
    .filter(({ resource }) => !resource.startsWith('selfsubject'))
    .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
}

const contrabass = {
  CONTRABASS_ENDPOINT: 'https://contrabass.example.com/a,b',
  CONTRABASS_ENCRYPT_KEY: '0123456789abcdef',
};

describe('deploy-operator.sh', () => {
  it('deploy-operator.sh --dry-run changes nothing, from any folder', async () => {
    const before = await writes();
    const options = { env: { ...contrabass, CDPATH: '/:/tmp' }, cwd: site.folder };
    const { code, output } = await site.run(
      'deploy-operator.sh',
      ['--type', 'dev', '--dry-run'],
      options,
    );
    expect(code, output).toBe(0);
    expect(await writes()).toEqual(before);
    expect(output).not.toContain(contrabass.CONTRABASS_ENCRYPT_KEY);
  });

  it('deploy-operator.sh keeps the Contrabass settings of its previous run', async () => {
    const args = ['--type', 'dev', ...withoutPods];
    const first = await site.run('deploy-operator.sh', args, { env: contrabass });
    expect(first.code, first.output).toBe(0);
    expect(first.output).not.toContain(contrabass.CONTRABASS_ENCRYPT_KEY);
    const version = await ofOperator(keyVersion);
    await deploy('--type', 'staging');
    expect(await ofOperator(keyReference)).toBe('multinic-operator-contrabass');
    expect(await ofOperator(endpoint)).toBe(contrabass.CONTRABASS_ENDPOINT);
    expect(await ofOperator(keyVersion)).toBe(version);
  });

  it('deploy-operator.sh writes previous values to no file that a killed run would leave behind', async () => {
    const scratch = join(site.folder, 'scratch');
    await mkdir(scratch);
    const options = {
      env: { TMPDIR: scratch },
      kubectl: '[[ -z $(ls -A "$TMPDIR") ]] || lose',
    };
    const { code, output } = await site.run('deploy-operator.sh', withoutPods, options);
    expect(code, output).toBe(0);
    expect(output).toContain(
      `kept from the previous run: contrabassEndpoint: '${contrabass.CONTRABASS_ENDPOINT}'`,
    );
  });

  it('deploy-operator.sh aborts if the API server fails, instead of assuming no previous settings', async () => {
    const kubectl = '[[ "$*" != *CONTRABASS_ENDPOINT* ]] || lose';
    const { code, output } = await site.run('deploy-operator.sh', withoutPods, { kubectl });
    expect(output).toContain('kubectl cannot read CONTRABASS_ENDPOINT of the previous run');
    expect(code).toBe(1);
  });

  it('values override the settings from the previous run', async () => {
    const place = 'operator.secretSettings.contrabassEncryptKey';
    const own = ['--set', `${place}.name=own`, '--set', `${place}.key=k`];
    const other = ['--set', 'operator.settings.contrabassEndpoint=https://other.example.com'];
    const args = [...withoutPods, ...own, ...other];
    const { code, output } = await site.run('deploy-operator.sh', args);
    expect(code, output).toBe(0);
    expect(await ofOperator(keyReference)).toBe('own');
    expect(await ofOperator(endpoint)).toBe('https://other.example.com');
  });

  it('deploy-operator.sh restarts the operator only for a new key', async () => {
    const version = await ofOperator(keyVersion);
    const env = { CONTRABASS_ENCRYPT_KEY: 'fedcba9876543210' };
    await site.run('deploy-operator.sh', withoutPods, { env });
    const next = await ofOperator(keyVersion);
    expect(next).not.toBe(version);
    await site.run('deploy-operator.sh', withoutPods, { env });
    expect(await ofOperator(keyVersion)).toBe(next);
  });

  it.each([
    ['--img', 'multinic:1', 'docker.io', 'library/multinic-controllers'],
    ['--image', 'team/multinic:1', 'docker.io', 'team/multinic'],
    ['--image', 'registry:5000/a/b:1', 'registry:5000', 'a/b'],
  ])('%s %s is of the registry %s, by name %s', async (option, reference, registry, name) => {
    const { code, output } = await site.run('deploy-operator.sh', [option, reference, '--dry-run']);
    expect(code, output).toBe(0);
    expect(output).toContain(
      `--set viola.image.registry=${registry} --set viola.image.repository=${name}`,
    );
  });

  it('deploy-operator.sh prints the remedy after a killed helm upgrade', async () => {
    const chart = join(root, 'charts/multinic-operator');
    const args = [
      'upgrade',
      'multinic-operator',
      chart,
      ...home,
      '--wait',
      '--timeout',
      '5m',
      '--reset-values',
    ];
    const kubeconfig = ['--kubeconfig', site.cluster.kubeconfig];
    const helm = spawn(await toolPath('helm'), [...kubeconfig, ...args]);
    const notes = [...home, 'secrets', '-l', 'owner=helm,status=pending-upgrade'];
    await vi.waitFor(
      async () => expect(await site.value('{.items[*].metadata.name}', ...notes)).not.toBe(''),
      { timeout: scaled(60_000) },
    );
    helm.kill('SIGKILL');
    await once(helm, 'exit');
    const { code, output } = await site.run('deploy-operator.sh', withoutPods);
    expect(code).toBe(1);
    const [, next = ''] =
      /kubectl (-n \S+ delete secret\/\S+); then run this script again/.exec(output) ?? [];
    await site.cluster.kubectl(next.split(' '));
    await deploy();
  });

  it('deploy-operator.sh prints the remedy after a killed helm uninstall', async () => {
    const releases = [...home, 'secret', '-l', 'owner=helm,status=deployed'];
    await site.cluster.kubectl(['label', '--overwrite', ...releases, 'status=uninstalling']);
    const { code, output } = await site.run('deploy-operator.sh', withoutPods);
    expect(code).toBe(1);
    const [, next = ''] =
      /helm (-n \S+ uninstall \S+); then run this script again/.exec(output) ?? [];
    const kubeconfig = ['--kubeconfig', site.cluster.kubeconfig];
    await run(await toolPath('helm'), kubeconfig.concat(next.split(' ')));
    await deploy();
  });

  it('deploy-operator.sh refuses a namespace that is being deleted', async () => {
    const kubectl = '[[ "$*" != *"get namespace"* ]] || { echo Terminating; exit; }';
    const { code, output } = await site.run('deploy-operator.sh', withoutPods, { kubectl });
    expect(output).toContain('namespace multinic-operator-system is being deleted');
    expect(code).toBe(1);
  });

  it('scripts give up on an API server that accepts connections and never answers', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    try {
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const config = await readFile(site.cluster.kubeconfig, 'utf8');
      const KUBECONFIG = join(site.folder, 'silent.kubeconfig');
      const elsewhere = `server: http://127.0.0.1:${port}`;
      await writeFile(
        KUBECONFIG,
        config.replace(/server: .*/, elsewhere).replace(/ *certificate-authority.*\n/, ''),
      );
      const { code, output } = await site.run('deploy-operator.sh', [], { env: { KUBECONFIG } });
      expect(output).toContain(`the API server http://127.0.0.1:${port} does not answer`);
      expect(code).toBe(1);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });
});

describe.each([
  'deploy-operator.sh',
  'cleanup-operator.sh',
  'scripts/build-and-deploy.sh',
  'scripts/cleanup-agent.sh',
])('%s', (script) => {
  const options = /deploy/.test(script)
    ? ['--type', '--context']
    : ['--nics', '--timeout', '--context'];

  it.each(options)('scripts require a value for %s', async (option) => {
    for (const args of [[option], [option, '']]) {
      const { code, output } = await site.run(script, args);
      expect(output).toContain(`${option} needs a value`);
      expect(code).toBe(2);
    }
  });

  it('scripts refuse unknown options and unknown contexts', async () => {
    const unknown = await site.run(script, ['--typo']);
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.output).toContain('unknown option --typo');
    const type = script === 'scripts/build-and-deploy.sh' ? ['--type', 'dev'] : [];
    const lost = await site.run(script, [...type, '--context', 'nowhere', '--dry-run']);
    expect(lost.code).toBe(1);
    expect(lost.output).toContain('kubectl has no context nowhere');
  });

  it('scripts name a missing tool', async () => {
    const type = script === 'scripts/build-and-deploy.sh' ? ['--type', 'dev'] : [];
    const { code, output } = await site.run(script, type, { env: { PATH: '/usr/bin:/bin' } });
    expect(code).toBe(1);
    expect(output).toMatch(/(kubectl|helm) is not on this machine\nNext: install \1/);
  });
});

describe('cleanup-operator.sh', () => {
  const config = {
    apiVersion: 'multinic.example.com/v1alpha1',
    kind: 'OpenstackConfig',
    metadata: {
      name: 'held',
      namespace: 'multinic-system',
      finalizers: ['multinic.example.com/cleanup', 'example.com/theirs'],
    },
    spec: { credentials: {} },
  };

  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'multinic-operator-inventory', namespace: 'multinic-operator-system' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };

  beforeAll(async () => {
    const { code, output } = await site.run('deploy-operator.sh', withoutPods, { env: contrabass });
    expect(code, output).toBe(0);
    await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(config));
    await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(claim));
  });

  it('cleanup-operator.sh aborts if the API server fails, instead of assuming no objects', async () => {
    const lost = await site.run('cleanup-operator.sh', ['--yes'], {
      kubectl: '[[ "$*" != *"get crd"* ]] || lose',
    });
    expect(lost.code).toBe(1);
    expect(lost.output).toContain('Unable to connect to the server');
    const kubectl =
      '[[ "$*" != *"delete openstack"* ]] || touch "$0.deleted"\n[[ ! -e $0.deleted || "$*" != *"get openstack"* ]] || lose';
    const { code, output } = await site.run(
      'cleanup-operator.sh',
      ['--nics', 'remove', '--yes', '--timeout', '2'],
      { kubectl },
    );
    expect(output).toContain('the script removed no other object');
    expect(code).toBe(1);
    expect(await isInstalled()).toBe(true);
  });

  it('cleanup-operator.sh aborts when finalizers cannot be listed', async () => {
    const kubectl = '[[ "$*" != *"metadata.finalizers"* ]] || lose';
    const { code, output } = await site.run('cleanup-operator.sh', ['--yes'], { kubectl });
    expect(output).toContain('kubectl cannot list');
    expect(code).toBe(1);
    expect(await isInstalled()).toBe(true);
  });

  it('cleanup-operator.sh --dry-run changes nothing', async () => {
    const before = await writes();
    for (const nics of ['keep', 'remove']) {
      const args = ['--nics', nics, '--purge', '--crds', '--dry-run'];
      const { code, output } = await site.run('cleanup-operator.sh', args);
      expect(code, output).toBe(0);
    }
    expect(await writes()).toEqual(before);
  });

  it("cleanup-operator.sh removes only MultiNIC's finalizers and the release, and reports leftovers", async () => {
    const { code, output } = await site.run('cleanup-operator.sh', ['--yes']);
    expect(code, output).toBe(0);
    expect(await isInstalled()).toBe(false);
    expect(await site.value('{.metadata.finalizers}', '-n', 'multinic-system', kind, 'held')).toBe(
      '["example.com/theirs"]',
    );
    expect(output).toContain(
      'Secrets multinic-operator-contrabass in multinic-operator-system (--purge removes them)',
    );
    expect(output).toContain(
      'volume claim multinic-operator-inventory in multinic-operator-system (--purge removes the claim)',
    );
    expect(output).toContain(`the CustomResourceDefinition ${kind} (--crds removes the CRD)`);
  });

  it('cleanup-operator.sh lists objects with foreign finalizers after the timeout', async () => {
    const args = ['--crds', '--yes', '--timeout', '2'];
    const { code, output } = await site.run('cleanup-operator.sh', args);
    expect(output).toMatch(/multinic-system +held +\[example\.com\/theirs\]/);
    expect(output).toContain(`objects of ${kind} still exist`);
    expect(code).toBe(1);
    const free = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
    await site.cluster.kubectl(['-n', 'multinic-system', 'patch', kind, 'held', ...free]);
    await site.cluster.kubectl(['wait', '--for=delete', `crd/${kind}`, '--timeout=60s']);
  });

  it('--purge removes all leftovers, also in a second run, and no foreign objects', async () => {
    await site.cluster.kubectl([...home, 'create', 'secret', 'generic', 'own']);
    for (const time of [1, 2]) {
      const { code, output } = await site.run('cleanup-operator.sh', ['--purge', '--yes']);
      expect(code, `${time}: ${output}`).toBe(0);
      expect(output).not.toContain('--purge removes');
    }
    expect(await site.value('{.items[*].metadata.name}', ...home, 'secrets')).toBe('own');
  });

  it('cleanup-operator.sh reports a Deployment that helm did not install', async () => {
    await site.cluster.kubectl([
      ...home,
      'create',
      'deployment',
      'multinic-operator-controller-manager',
      '--image=a',
      '--replicas=0',
    ]);
    const { code, output } = await site.run('cleanup-operator.sh', ['--yes']);
    expect(code, output).toBe(0);
    expect(output).toContain('helm did not install this Deployment');
    await site.cluster.kubectl(['delete', ...operator]);
  });
});

describe('make', () => {
  it('install takes the kinds over from helm, and helm takes them back', async () => {
    await deploy();
    const kinds = ['crd', kind];
    const served = '{.spec.versions[0].schema.openAPIV3Schema.description}';
    const meant = await site.value(served, ...kinds);
    const older = [
      {
        op: 'replace',
        path: '/spec/versions/0/schema/openAPIV3Schema/description',
        value: 'older',
      },
    ];
    const asHelm = ['--type=json', '--field-manager=helm', '-p', JSON.stringify(older)];
    await site.cluster.kubectl(['patch', ...kinds, ...asHelm]);
    const { code, output } = await site.run('/usr/bin/make', ['install']);
    expect(code, output).toBe(0);
    expect(await site.value(served, ...kinds)).toBe(meant);
    await deploy();
  });

  it('make uninstall succeeds with missing CRDs', async () => {
    for (const time of [1, 2]) {
      const { code, output } = await site.run('/usr/bin/make', ['uninstall']);
      expect(code, `${time}: ${output}`).toBe(0);
    }
  });
});

definitionsFirstTests(() => site);
cleanupAgentTests(() => site);
