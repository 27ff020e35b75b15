import { describe, expect, test } from 'vitest';
import { passwordAuth } from '../../src/openstack/cloud-identity.ts';
import { createFakeClock } from '../../src/time/fake-clock.ts';
import { encryptKey, setUp } from './cloud-in-test.ts';
import type { Controls } from './controls.ts';
import { defaultAdmin, startContrabass } from './start.ts';

/** What the product gets for the ports of the server while the cloud fails so. */
async function portsUnder(failure: Parameters<Controls['fail']>[0]): Promise<unknown> {
  const { running, cloud, serverId, signal } = await setUp();
  expect(await cloud.portsOf([serverId], signal)).toHaveLength(1);
  running.controls.fail(failure);
  return cloud.portsOf([serverId], signal).catch((error: unknown) => error);
}

describe('failures on demand, as the product sees them', () => {
  test('a status', async () => {
    const failure = { service: 'neutron', kind: 'status', status: 403 } as const;
    expect(await portsUnder(failure)).toMatchObject({ kind: 'forbidden', status: 403 });
  });

  test.each(['reset', 'truncate'] as const)('%s is an error, never a short list', async (kind) => {
    expect(await portsUnder({ service: 'neutron', kind })).toMatchObject({ kind: 'unreachable' });
  });

  test.each(['reset', 'truncate'] as const)('one %s is repeated and passes', async (kind) => {
    expect(await portsUnder({ service: 'neutron', kind, times: 1 })).toHaveLength(1);
  });

  test('empty and omit are answers that lie', async () => {
    expect(await portsUnder({ service: 'neutron', kind: 'empty' })).toEqual([]);
    const { running, cloud, serverId, signal } = await setUp();
    const [port] = await cloud.portsOf([serverId], signal);
    running.controls.fail({ service: 'neutron', kind: 'omit', ids: [port?.id ?? ''] });
    expect(await cloud.portsOf([serverId], signal)).toEqual([]);
    expect(await cloud.port(port?.id ?? '', signal)).toMatchObject({ kind: 'found' });
  });

  test('hang is a timeout', async () => {
    const { running, clouds, identity, serverId, signal } = await setUp();
    running.controls.fail({ service: 'nova', kind: 'hang', path: '/v2.1/servers' });
    const impatient = clouds.get({ ...identity, timeoutMs: 50 });
    await expect(impatient.server(serverId, signal)).rejects.toMatchObject({ kind: 'timeout' });
    expect(await impatient.portsOf([serverId], signal)).toHaveLength(1);
  });

  test('healing ends them', async () => {
    const { running, cloud, serverId, signal } = await setUp();
    const failure = { service: 'neutron', kind: 'status', status: 404 } as const;
    running.controls.fail(failure);
    await expect(cloud.portsOf([serverId], signal)).rejects.toThrow();
    running.controls.heal({});
    expect(await cloud.portsOf([serverId], signal)).toHaveLength(1);
  });
});

describe('the clouds of the process', () => {
  test('one identity is one Cloud, another project another one', async () => {
    const { clouds, identity, as } = await setUp();
    expect(clouds.get({ ...identity })).toBe(clouds.get(identity));
    expect(clouds.get(as({ projectId: 'other' }))).not.toBe(clouds.get(identity));
    expect(clouds.get(as({ password: 'other' }))).not.toBe(clouds.get(identity));
  });

  test("Contrabass' answer is kept until Keystone refuses what is in it", async () => {
    const { running, clouds, identity, serverId, signal } = await setUp();
    const { contrabassUrl: endpoint, providerId } = running;
    const request = { endpoint, providerId, encryptKey, timeoutMs: 5_000, tls: {} };
    const path = `contrabass GET /v1/contrabass/admin/infra/provider/${providerId}`;
    const provider = await clouds.provider(request, signal);
    await clouds.provider(request, signal);
    expect(running.requests.get(path)).toBe(1);
    const { keystoneUrl } = provider;
    const auth = passwordAuth({ ...provider, projectId: 'gone' });
    const unknown = clouds.get({ ...identity, keystoneUrl, auth });
    await expect(unknown.portsOf([serverId], signal)).rejects.toMatchObject({
      kind: 'badCredential',
    });
    await clouds.provider(request, signal);
    expect(running.requests.get(path)).toBe(2);
  });

  test('Contrabass alone names the message queue that it knows', async () => {
    const { clouds, signal } = await setUp();
    const rabbit = { username: 'r', password: 'p', hosts: ['127.0.0.1:5672'] };
    const known = { encryptKey, keystoneUrl: 'http://127.0.0.1:1', admin: defaultAdmin, rabbit };
    await using contrabass = await startContrabass(known);
    const { contrabassUrl: endpoint, providerId } = contrabass;
    const request = { endpoint, providerId, encryptKey, timeoutMs: 5_000, tls: {} };
    expect((await clouds.provider(request, signal)).rabbit).toEqual(rabbit);
  });

  test('a closed client refuses instead of hanging', async () => {
    const { clouds, cloud, networkId, signal } = await setUp();
    await clouds[Symbol.asyncDispose]();
    await expect(cloud.network(networkId, signal)).rejects.toThrow();
  });
});

describe('controls', () => {
  test('a server lists what is read as many pages when Neutron pages by itself', async () => {
    const { running, cloud, account, serverId, networkId, signal } = await setUp({ maxLimit: 2 });
    for (let i = 0; i < 4; i++) running.controls.attach({ serverId, networkId });
    const ports = await cloud.portsOf([serverId], signal);
    expect(new Set(ports.map((port) => port.id)).size).toBe(5);
    expect(ports.every((port) => port.projectId === account.projectId)).toBe(true);
  });

  test('work over HTTP, with wrong arguments refused', async () => {
    const { running, cloud, serverId, networkId, signal } = await setUp();
    const control = async (name: string, argument: unknown): Promise<Response> =>
      fetch(`${running.controlUrl}/${name}`, { method: 'POST', body: JSON.stringify(argument) });
    const attached = await control('attach', { serverId, networkId });
    const { portId } = (await attached.json()) as { portId: string };
    await control('setPortStatus', { portId, status: 'DOWN' });
    expect(await cloud.port(portId, signal)).toMatchObject({ value: { status: 'DOWN' } });
    expect((await control('setPortStatus', { portId })).status).toBe(400);
    expect((await control('nothing', {})).status).toBe(501);
    await control('deleteServer', { serverId });
    expect(await cloud.server(serverId, signal)).toEqual({ kind: 'notFound' });
    expect(await cloud.port(portId, signal)).toEqual({ kind: 'notFound' });
  });

  test("Nova's record of addresses is late, or lost, while os-interface is Neutron's list", async () => {
    const { running, cloud, serverId, networkId, signal } = await setUp();
    const { controls } = running;
    const { portId, macAddress } = controls.attach({ serverId, networkId });
    const recorded = async () => {
      const server = await cloud.server(serverId, signal);
      return server.kind === 'found' ? server.value.macAddresses : undefined;
    };
    await expect.poll(recorded).toHaveLength(2);
    controls.holdNovaEvents({});
    controls.readdressPort({ portId, fixedIps: [] });
    expect(await cloud.port(portId, signal)).toMatchObject({ value: { fixedIps: [] } });
    controls.deletePort({ portId });
    expect(await cloud.port(portId, signal)).toEqual({ kind: 'notFound' });
    expect(await recorded()).toContain(macAddress);
    controls.releaseNovaEvents({});
    await expect.poll(recorded).toHaveLength(1);
    controls.loseAddresses({ serverId });
    expect(await recorded()).toEqual([]);
    expect(await cloud.portsOf([serverId], signal)).toHaveLength(1);
    controls.setServerStatus({ serverId, status: 'ERROR' });
    expect(await cloud.server(serverId, signal)).toMatchObject({ value: { status: 'ERROR' } });
  });

  test('ports that the tenant made survive a detach and can be deleted', async () => {
    const { running, cloud, account, serverId, networkId, signal } = await setUp();
    const { projectId } = account;
    const { portId } = running.controls.createPort({ projectId, networkId, name: 'kept' });
    running.controls.attach({ serverId, portId });
    running.controls.detach({ serverId, portId });
    await expect
      .poll(async () => cloud.port(portId, signal))
      .toMatchObject({ value: { deviceId: '', status: 'DOWN' } });
    running.controls.deletePort({ portId });
    expect(await cloud.port(portId, signal)).toEqual({ kind: 'notFound' });
  });

  test('a detach that names the wrong server changes nothing', async () => {
    const { running, cloud, account, serverId, networkId, signal } = await setUp();
    const { projectId } = account;
    const other = running.controls.createServer({ projectId, name: 'other' }).serverId;
    const [kept] = await cloud.portsOf([serverId], signal);
    const { portId } = running.controls.attach({ serverId: other, networkId });
    running.controls.detach({ serverId: other, portId: kept?.id ?? '' });
    running.controls.detach({ serverId: other, portId });
    // Detaches are carried out in their order, so the first one has passed when the second is done.
    await expect.poll(async () => cloud.port(portId, signal)).toEqual({ kind: 'notFound' });
    expect(await cloud.portsOf([serverId], signal)).toEqual([kept]);
  });

  test('latency delays the services, not the controls', async () => {
    const clock = createFakeClock();
    const { running, cloud, networkId, signal } = await setUp({ clock });
    running.controls.setLatency({ ms: 1_000 });
    const answer = cloud.network(networkId, signal);
    // The login arrives and waits; every answer needs its second.
    for (let i = 0; i < 2; i++) {
      await expect.poll(() => clock.waits.length).toBe(1);
      await clock.advance(1_000);
    }
    expect(await answer).toMatchObject({ kind: 'found' });
  });

  test('what is not served is 501 and says so', async () => {
    const { running } = await setUp();
    for (const path of ['/network/v2.0/routers', '/compute/v2.1/os-keypairs', '/volume/v3']) {
      const answer = await fetch(`http://127.0.0.1:${running.port}${path}`);
      expect([path, answer.status]).toEqual([path, 501]);
    }
  });

  test('a filter that Neutron knows and the simulation does not is 501, not a wrong list', async () => {
    const { running, account } = await setUp();
    const login = await fetch(`${running.keystoneUrl}/v3/auth/tokens`, {
      method: 'POST',
      body: JSON.stringify({
        auth: {
          identity: {
            methods: ['password'],
            password: {
              user: {
                name: account.username,
                domain: { name: account.domainName },
                password: account.password,
              },
            },
          },
          scope: { project: { id: account.projectId } },
        },
      }),
    });
    const headers = { 'x-auth-token': login.headers.get('x-subject-token') ?? '' };
    const answer = await fetch(`${running.neutronUrl}/v2.0/ports?security_groups=x`, { headers });
    expect(answer.status).toBe(501);
  });
});
