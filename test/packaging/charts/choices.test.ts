import type { Pod } from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { Role } from 'kubernetes-types/rbac/v1.js';
import { describe, expect, it } from 'vitest';
import {
  containerOf,
  environmentOf,
  type Manifest,
  manifestsIn,
  ofKind,
} from '../../repo/charts/manifests.ts';
import { type Installation, notes, render } from './helm.ts';

// What values change that no golden file shows.

const operator = 'multinic-operator';
const agent = 'multinic-agent';

async function made(installation: Installation, ...flags: readonly string[]): Promise<Manifest[]> {
  return manifestsIn(await render(installation, ...flags));
}

/** Whom `helm test` asks. */
async function asked(installation: Installation): Promise<string[]> {
  const env = environmentOf(containerOf(await made(installation), 'test'), () => '');
  const all = JSON.parse(env['CHECKS'] ?? '') as { name: string }[];
  return all.map(({ name }) => name);
}

it('a release does not make the namespace that it is in', async () => {
  const manifests = await made({ chart: operator }, '--namespace', 'multinic-system');
  const names = ofKind(manifests, 'Namespace').map(({ metadata }) => metadata?.name);
  expect(names).toEqual(['multinic-clusters']);
});

it('a volume without a class is another one than a volume of the default class', async () => {
  const values = { operator: { persistence: { storageClassName: '' } } };
  const [claim] = ofKind(await made({ chart: operator, values }), 'PersistentVolumeClaim');
  expect(claim).toHaveProperty('spec.storageClassName', '');
  const [usual] = ofKind(await made({ chart: operator }), 'PersistentVolumeClaim');
  expect(usual).not.toHaveProperty('spec.storageClassName');
});

/** Names of the Secrets that an operator with these settings may keep. */
async function secretsOf(settings: object): Promise<unknown[]> {
  const values = { operator: { settings } };
  const roles = ofKind<Role>(await made({ chart: operator, values }), 'Role');
  const own = roles.filter(({ metadata }) => metadata?.name === 'multinic-operator-viola-access');
  return own
    .flatMap(({ rules = [] }) => rules ?? [])
    .flatMap(({ resourceNames = [] }) => resourceNames);
}

it('a right to Secrets of the access to Viola is what the operator is told, not what Viola is', async () => {
  const tokens = ['multinic-operator-viola-token', 'viola-api-tokens'];
  const certificates = ['multinic-ca', 'viola-api-tls'];
  expect(await secretsOf({})).toEqual([...tokens, ...certificates]);
  expect(await secretsOf({ violaAccess: 'given' })).toEqual(certificates);
  expect(await secretsOf({ violaTls: 'given' })).toEqual(tokens);
  expect(await secretsOf({ violaAccess: 'given', violaTls: 'given' })).toEqual([]);
});

/** Where an operator with these settings may write Secrets of message queues. */
async function writtenBeside(settings: object): Promise<unknown[]> {
  const values = { operator: { settings } };
  const roles = ofKind<Role>(await made({ chart: operator, values }), 'Role');
  const own = roles.filter(({ metadata }) => metadata?.name === 'multinic-operator-rabbitmq');
  return own.map(({ metadata }) => metadata?.namespace);
}

it('a right to write Secrets beside OpenstackConfigs is given where it is asked for', async () => {
  expect(await writtenBeside({})).toEqual([]);
  expect(await writtenBeside({ rabbitmqSecrets: false })).toEqual([]);
  expect(await writtenBeside({ rabbitmqSecrets: true })).toEqual(['multinic-system']);
  const secretNamespaces = ['a', 'b', 'a'];
  expect(await writtenBeside({ rabbitmqSecrets: true, secretNamespaces })).toEqual(['a', 'b']);
});

function portsOf(rules: readonly { ports?: readonly { port?: unknown }[] }[] = []): unknown[] {
  return rules.flatMap(({ ports = [] }) => ports.map(({ port }) => port));
}

it('MariaDB is where it usually is, and nobody is let in to an inventory on loopback', async () => {
  const settings = { dbHost: 'mariadb.example.com' };
  const inventory = { from: [{ podSelector: { matchLabels: { app: 'dashboard' } } }] };
  const secretSettings = { dbPassword: { name: 'db', key: 'password' } };
  const values = { operator: { settings, secretSettings }, networkPolicy: { inventory } };
  const policies = ofKind<NetworkPolicy>(await made({ chart: operator, values }), 'NetworkPolicy');
  const policy = policies.find(({ metadata }) => metadata?.name === 'multinic-operator');
  expect(portsOf(policy?.spec?.egress)).toContain(3306);
  expect(portsOf(policy?.spec?.ingress)).toEqual([8082]);
});

describe('helm test', () => {
  it.each<[string[], Installation]>([
    [['operator', 'viola', "viola, with the operator's token"], { chart: operator }],
    [['operator'], { chart: operator, values: { viola: { replicas: 0 } } }],
    [
      ['viola', "viola, with the operator's token"],
      { chart: operator, values: { operator: { replicas: 0 } } },
    ],
    [['controller'], { chart: agent }],
    [[], { chart: agent, values: { controller: { replicas: 0 } } }],
  ])('asks %j and nobody who was scaled away', async (expected, installation) => {
    expect(await asked(installation)).toEqual(expected);
  });

  it('waits for no token of a Viola that was scaled away', async () => {
    const values = { viola: { replicas: 0 } };
    const [pod] = ofKind<Pod>(await made({ chart: operator, values }), 'Pod');
    expect(pod?.spec).not.toHaveProperty('volumes');
  });

  it('has limits of whatever its part has limits of, as a quota may ask for them', async () => {
    const limits = { cpu: '2', memory: '512Mi', 'ephemeral-storage': '1Gi' };
    const values = { operator: { resources: { limits } } };
    const [pod] = ofKind<Pod>(await made({ chart: operator, values }), 'Pod');
    expect(pod?.spec?.containers[0]?.resources).toEqual({
      requests: { cpu: '10m', memory: '64Mi' },
      limits: { ...limits, memory: '128Mi' },
    });
  });
});

describe('the notes', () => {
  it('[RW-76] name the Secrets of the registry that agents need, and where', async () => {
    const values = { global: { imagePullSecrets: [{ name: 'one' }, { name: 'two' }] } };
    expect(await notes({ chart: agent, values })).toContain(
      'Agents pull their image with one, two: the Secret must also exist in multinic-agents.',
    );
    const own = { ...values, agent: { imagePullSecrets: [{ name: 'own' }] } };
    expect(await notes({ chart: agent, values: own })).toContain('with own: the Secret');
    expect(await notes({ chart: agent })).not.toContain('Agents pull');
  });

  it('say who brings node configs without a token, and that nobody said where Contrabass is', async () => {
    const settings = { legacyListener: ':8081', legacyAllowFrom: ['10.0.0.0/24', '10.1.0.7/32'] };
    const said = await notes({ chart: operator, values: { viola: { settings } } });
    expect(said).toContain('without a token from 10.0.0.0/24, 10.1.0.7/32.');
    expect(said).toContain('operator.settings.contrabassEndpoint is not set');
    const values = { operator: { settings: { contrabassEndpoint: 'https://contrabass' } } };
    const usual = await notes({ chart: operator, values });
    expect(usual).not.toMatch(/without a token|is not set|WARNING/);
  });

  it('warn of removed and deprecated values, which the chart accepts', async () => {
    const values = {
      operator: { settings: { workers: 4, inventoryPlainHttp: true } },
      viola: { settings: { cacheFor: '9s', parallel: null } },
    };
    const said = await notes({ chart: operator, values });
    expect(said.match(/^WARNING: \S+ /gm)).toEqual([
      'WARNING: operator.settings.inventoryPlainHttp: ',
      'WARNING: operator.settings.workers: ',
      'WARNING: viola.settings.cacheFor: ',
    ]);
    expect(said).toContain('inventoryPlainHttp: Deprecated: use apiPlainHttp.');
    const old = { controller: { settings: { jobDeadline: '5m', identity: 'me' } } };
    expect(await notes({ chart: agent, values: old })).toContain(
      'WARNING: controller.settings.jobDeadline: Removed, has no effect: ',
    );
  });
});

it.each([
  [
    'active',
    ['multinic.io', 'multinic.okestro.io'],
    ['', '-api-server', '-biz-config', '-biz-config-okestro', '-expansion', '-networks'],
  ],
  ['active', ['multinic.io'], ['', '-api-server', '-biz-config', '-expansion', '-networks']],
  ['read-only', ['multinic.okestro.io'], ['', '-api-server', '-biz-config-okestro', '-networks']],
  ['off', ['multinic.io'], ['', '-api-server', '-networks']],
])(
  'the mode %s of MultiNicBizConfigs of %j has only the roles that it needs',
  async (mode, groups, wanted) => {
    const values = { controller: { bizConfig: { mode, groups } } };
    const roles = ofKind(await made({ chart: agent, values }), 'Role').flatMap(
      ({ metadata }) => /^multinic-controller(.*)$/.exec(metadata?.name ?? '')?.slice(1) ?? [],
    );
    expect([...new Set(roles)].toSorted()).toEqual(wanted);
  },
);
