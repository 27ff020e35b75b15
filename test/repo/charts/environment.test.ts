import { describe, expect, it } from 'vitest';
import { settingsOfParts } from '../../../build/settings-of-parts.ts';
import { readSettings, type Settings } from '../../../src/process/settings.ts';
import { containerOf, environmentOf, rendered, renderedAs } from './manifests.ts';

type Part = keyof typeof settingsOfParts;

/** What a part reads in its Pod. */
function settingsIn(name: string, part: Part): Record<string, unknown> {
  const container = containerOf(renderedAs(name), part);
  const env = environmentOf(container, ({ fieldRef, secretKeyRef }) =>
    secretKeyRef ? `${secretKeyRef.name}/${secretKeyRef.key}` : `<${fieldRef?.fieldPath}>`,
  );
  return readSettings(settingsOfParts[part] as Settings, { env, flags: {} });
}

function partsOf(name: string): readonly Part[] {
  if (name.startsWith('agent')) return ['controller'];
  const lifecycle: readonly Part[] = name === 'operator-lifecycle' ? ['lifecycle'] : [];
  return ['operator', 'viola', ...lifecycle];
}

describe.each(rendered)('the parts of $name', ({ name }) => {
  const parts = partsOf(name);

  it.each(parts)('can be started: %s', (part) => {
    expect(settingsIn(name, part)).toHaveProperty('logLevel');
  });
});

describe('what the chart decides', () => {
  const own = 'multinic-operator-system';
  const files = {
    token: '/etc/multinic/viola-token/token',
    ca: '/etc/multinic/viola-ca/ca.crt',
    clouds: '/etc/multinic/ca/ca.crt',
  };

  it.each<[string, Part, Record<string, unknown>]>([
    [
      'operator-default',
      'operator',
      {
        namespace: '<metadata.namespace>',
        violaEndpoint: `https://viola-api.${own}.svc`,
        violaAccess: 'managed',
        violaTls: 'managed',
        violaTokenFile: undefined,
        violaCaFile: undefined,
        secretNamespaces: ['multinic-system'],
        inventoryListen: { host: '127.0.0.1', port: 18081 },
      },
    ],
    [
      'operator-default',
      'viola',
      {
        tokenFile: '/etc/multinic/tokens',
        tlsCert: '/etc/multinic/tls/tls.crt',
        tlsKey: '/etc/multinic/tls/tls.key',
        plainHttp: false,
        registrationsNamespace: 'multinic-clusters',
        legacyListener: undefined,
      },
    ],
    [
      'operator-cert-manager',
      'operator',
      { violaAccess: 'managed', violaTls: 'given', violaCaFile: files.ca },
    ],
    [
      'operator-own-secrets',
      'operator',
      {
        violaAccess: 'given',
        violaTls: 'given',
        violaCaFile: files.ca,
        violaTokenFile: files.token,
        contrabassCaFile: files.clouds,
        openstackCaFile: files.clouds,
        dbCaFile: undefined,
      },
    ],
    [
      'operator-plain',
      'operator',
      { violaEndpoint: `http://viola-api.${own}.svc:8080`, violaTls: 'given' },
    ],
    ['operator-plain', 'viola', { plainHttp: true, tlsCert: undefined }],
    [
      'operator-mariadb',
      'operator',
      {
        dbHost: 'mariadb.example.com',
        dbPort: 3307,
        dbTls: true,
        dbCaFile: files.clouds,
        dbPassword: 'multinic-db/password',
        contrabassEncryptKey: 'contrabass/encrypt-key',
      },
    ],
    [
      'operator-much-said',
      'operator',
      {
        watchNamespace: 'nics',
        secretNamespaces: ['nics'],
        listen: { host: '', port: 9082 },
      },
    ],
    ['operator-much-said', 'viola', { registrationsNamespace: 'nics-clusters' }],
    [
      'operator-lifecycle',
      'lifecycle',
      {
        namespace: '<metadata.namespace>',
        serviceAccount: 'multinic-operator',
        listen: { host: '', port: 8082 },
        webhookListen: { host: '', port: 9443 },
        webhookUrl: undefined,
      },
    ],
    [
      'agent-default',
      'controller',
      {
        namespace: '<metadata.namespace>',
        agentNamespace: 'multinic-agents',
        agentServiceAccount: 'multinic-agent',
        agentImage: 'localhost/multinic-agent:0.0.0-dev',
        agentImagePullSecrets: [],
        agentPriorityClass: undefined,
      },
    ],
    ['agent-production', 'controller', { agentPriorityClass: 'multinic-agent', maxInFlight: 20 }],
    [
      'agent-registry',
      'controller',
      {
        agentNamespace: 'nic-agents',
        agentImage: `registry.example.com:5000/multinic-agent:0.0.0-dev@sha256:${'a1b2c3d4'.repeat(8)}`,
        agentImagePullSecrets: ['pull'],
        agentPriorityClass: 'nics',
      },
    ],
  ])('of %s is what %s reads', (name, part, decided) => {
    expect(settingsIn(name, part)).toMatchObject(decided);
  });
});
