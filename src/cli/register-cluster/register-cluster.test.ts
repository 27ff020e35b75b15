import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../../../rig/apiserver/server.ts';
import { annotations, labels } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import {
  crds,
  deployments,
  namespaces,
  roles,
  type Secret,
  secrets,
} from '../../kube/core-resources.ts';
import { systemClock } from '../../time/clock.ts';
import { readRegistration } from '../../viola/clusters/secret.ts';
import { registeredToken } from '../../viola/tokens/registered-token.ts';
import { checkBusiness, checkManagement, checkReach, checkRegistration } from './preconditions.ts';
import { rehearse } from './register.ts';
import { type Registration, registrationSecret, writerObjects } from './registration.ts';
import { planText } from './screen.ts';

const registration: Registration = {
  provider: 'biz-1',
  namespace: 'multinic-system',
  serviceAccount: 'viola',
  server: 'https://10.0.0.1:6443',
  ca: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  tlsServerName: undefined,
  registrationsNamespace: 'multinic-clusters',
};

let server: ApiServer;
let client: KubeClient;

beforeAll(async () => {
  server = await startApiServer();
  client = createKubeClient(server.access, { clock: systemClock });
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server.close();
});

describe('registration', () => {
  it('Viola reads the registration Secret as intended, and its token can be renewed', async () => {
    const secret = registrationSecret(registration, 'token-1') as Secret;
    const read = await readRegistration(secret);
    expect(read).toMatchObject({ providerId: 'biz-1', namespace: 'multinic-system' });
    expect(read.access).toMatchObject({ server: registration.server, ca: registration.ca });
    expect(await read.access.token?.()).toBe('token-1');
    expect(secret.metadata.annotations).toEqual({ [annotations.renewsTokenOf]: 'viola' });
    const renewed = registeredToken(secret)?.with('token-2');
    const again = await readRegistration({ ...secret, data: { ...secret.data, ...renewed } });
    expect(await again.access.token?.()).toBe('token-2');
    expect(again.access).toMatchObject({ server: registration.server, ca: registration.ca });
  });

  it.each([
    ['a provider id that is no Secret name', { provider: 'Biz 1' }, 'the provider id "Biz 1"'],
    ['plain HTTP', { server: 'http://10.0.0.1:8080' }, 'the token would be readable'],
  ])('a registration is refused for %s', (_what, wrong, why) => {
    expect(() => checkRegistration({ ...registration, ...wrong })).toThrow(why);
  });

  it.each([
    ['en', 'Secret biz-1, label multinic.io/provider-id=biz-1'],
    ['ko', 'Secret biz-1, 레이블 multinic.io/provider-id=biz-1'],
  ] as const)('the registration plan names all objects in %s', (lang, secret) => {
    const servers = { business: 'https://b', management: 'https://m' };
    const text = planText(registration, servers, {
      tokenLifetime: '2160h',
      lang,
      output: 'table',
    });
    expect(text).toContain('ServiceAccount viola');
    expect(text).toMatch(/Role viola: .*ConfigMap multinic-cluster-networks/);
    expect(text).toContain(secret);
  });

  it("Viola's role grants access only to node configs, networks, creating its own token and the uid of kube-system", () => {
    const { role, identity } = writerObjects(registration);
    const rules = [role, identity.role].flatMap((one) => one.rules ?? []);
    expect(
      rules.map(({ resources, resourceNames, verbs }) => [resources, resourceNames, verbs]),
    ).toEqual([
      [['multinicnodeconfigs'], undefined, ['get', 'list', 'create', 'patch', 'delete']],
      [['serviceaccounts/token'], ['viola'], ['create']],
      [['configmaps'], ['multinic-cluster-networks'], ['get']],
      [['namespaces'], ['kube-system'], ['get']],
    ]);
  });
});

describe('registration preconditions', () => {
  it('a loopback server is accepted while Viola is a process, and refused once a Deployment runs Viola', async () => {
    const loopback = ['https://127.0.0.1:6443', 'https://localhost:6443', 'https://[::1]:6443'];
    const checked = (url: string) => checkReach(client, { server: url });
    for (const url of loopback) await expect(checked(url)).resolves.toBeUndefined();
    await client.create(deployments, {
      metadata: {
        name: 'viola-api',
        namespace: 'default',
        labels: { [labels.component]: 'viola' },
      },
    });
    for (const url of loopback) {
      await expect(checked(url)).rejects.toThrow('Deployment default/viola-api, cannot reach it');
    }
    await expect(checked(registration.server)).resolves.toBeUndefined();
  });

  it('missing registration preconditions are reported one by one, with the next step', async () => {
    const missing = { ...registration, namespace: 'absent', registrationsNamespace: 'absent' };
    await expect(checkBusiness(client, missing)).rejects.toThrow('has no namespace absent');
    await expect(checkManagement(client, missing, false)).rejects.toThrow(
      'has no namespace absent',
    );
    await client.create(namespaces, { metadata: { name: 'multinic-system' } });
    await expect(checkBusiness(client, registration)).rejects.toMatchObject({
      message: expect.stringContaining('multinicnodeconfigs.multinic.io') as string,
      next: 'install the chart multinic-agent there first',
    });
  });

  it('a registration is accepted for a new provider or the same server, refused for another server', async () => {
    await client.create(namespaces, { metadata: { name: 'multinic-clusters' } });
    await expect(checkManagement(client, registration, false)).resolves.toBeUndefined();
    const secret = registrationSecret(registration, 'token-1');
    await client.create(secrets, secret);
    await expect(checkManagement(client, registration, false)).resolves.toBeUndefined();
    const moved = { ...registration, server: 'https://10.0.0.2:6443' };
    await expect(checkManagement(client, moved, false)).rejects.toThrow(
      'is registered for https://10.0.0.1:6443',
    );
    await expect(checkManagement(client, moved, true)).resolves.toBeUndefined();
    await client.create(secrets, { ...secret, metadata: { ...secret.metadata, name: 'by-hand' } });
    await expect(checkManagement(client, registration, true)).rejects.toThrow(
      'multinic-clusters/by-hand already registers',
    );
    await client.delete(secrets, { name: 'by-hand', namespace: 'multinic-clusters' });
  });

  it.each([
    ['created by hand with server and token', { server: 'https://10.0.0.9:6443\n', token: 't' }],
    [
      'created with a trailing slash in the server URL',
      { server: 'https://10.0.0.9:6443/', token: 't' },
    ],
  ])('checkManagement accepts the same server when the Secret was %s', async (_, text) => {
    const provider = 'by-hand';
    const existing = registrationSecret({ ...registration, provider }, 'token-1');
    const data = Object.fromEntries(
      Object.entries(text).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    await client.create(secrets, { ...existing, data });
    const again = { ...registration, provider, server: 'https://10.0.0.9:6443' };
    await expect(checkManagement(client, again, false)).resolves.toBeUndefined();
    const moved = { ...again, server: 'https://10.0.0.2:6443' };
    await expect(checkManagement(client, moved, false)).rejects.toThrow(
      'is registered for https://10.0.0.9:6443',
    );
    await client.delete(secrets, { name: provider, namespace: 'multinic-clusters' });
  });

  it('rehearse leaves no trace, and keeps a role managed by Helm', async () => {
    const { metadata } = await client.get(secrets, {
      name: 'biz-1',
      namespace: 'multinic-clusters',
    });
    await client.create(roles, {
      metadata: {
        name: 'viola',
        namespace: 'multinic-system',
        labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      },
      rules: [],
    });
    await rehearse({ business: client, management: client }, registration);
    expect(
      server.objects('serviceaccounts', 'multinic-system').map((object) => object.metadata.name),
    ).not.toContain('viola');
    expect(server.objects('roles.rbac.authorization.k8s.io', 'multinic-system')).toMatchObject([
      { rules: [] },
    ]);
    expect(await client.get(secrets, metadata)).toMatchObject({
      metadata: { resourceVersion: metadata.resourceVersion },
    });
    expect(await client.find(crds, { name: 'multinicnodeconfigs.multinic.io' })).toBeUndefined();
  });
});
