import { expect } from 'vitest';
import type { ProviderRequest } from '../../../src/openstack/contrabass.ts';
import type { Contract } from './contract.ts';
import type { Setting } from './setting.ts';

function providerRequest({ cloudUnderTest }: Setting): ProviderRequest {
  return { ...cloudUnderTest.contrabass, timeoutMs: 10_000, tls: {} };
}

/** Contrabass leads to the cloud's Keystone. */
export function contrabassTests(contract: Contract): void {
  contract(
    'contrabass-01',
    'names Keystone and the administrator with the password decrypted',
    async (setting) => {
      const { clouds, cloudUnderTest, signal } = setting;
      const provider = await clouds.provider(providerRequest(setting), signal());
      expect(provider).toMatchObject({
        username: cloudUnderTest.admin.username,
        password: cloudUnderTest.admin.password,
        domainName: cloudUnderTest.admin.domainName,
      });
      expect(cloudUnderTest.keystoneUrl).toContain(provider.keystoneUrl);
    },
  );

  contract('contrabass-02', 'its account reads the ports of a tenant', async (setting) => {
    const { clouds, tenant, server, identity, as, signal } = setting;
    const provider = await clouds.provider(providerRequest(setting), signal());
    const { keystoneUrl, username, password, domainName } = provider;
    const cloud = clouds.get({
      ...identity,
      keystoneUrl,
      ...as({ username, password, domainName }),
    });
    const ports = await cloud.portsOf([server.id], signal());
    expect(ports.map((port) => port.projectId)).toContain(tenant.projectId);
  });

  contract('contrabass-03', 'an unknown provider is notFound', async (setting) => {
    const request = { ...providerRequest(setting), providerId: 'nobody' };
    await expect(setting.clouds.provider(request, setting.signal())).rejects.toMatchObject({
      service: 'contrabass',
      kind: 'notFound',
    });
  });

  contract(
    'contrabass-04',
    'a provider id with a slash stays one segment of the path',
    async (setting) => {
      const request = { ...providerRequest(setting), providerId: '../provider/x' };
      await expect(setting.clouds.provider(request, setting.signal())).rejects.toMatchObject({
        kind: 'notFound',
      });
    },
  );

  contract('contrabass-05', 'a wrong key is badCredential and is not told', async (setting) => {
    const encryptKey = 'wrong-key-16byte';
    const request = { ...providerRequest(setting), encryptKey };
    const failure: unknown = await setting.clouds
      .provider(request, setting.signal())
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ service: 'contrabass', kind: 'badCredential' });
    expect(String(failure)).not.toContain(encryptKey);
  });
}
