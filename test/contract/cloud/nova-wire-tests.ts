import { expect } from 'vitest';
import type { RawAnswer } from '../../../rig/openstack/openstack-http.ts';
import type { Contract } from './contract.ts';
import type { Setting } from './setting.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

/** Nova's wire format, where the product or a test relies on the format. */
export function novaWireTests(contract: Contract): void {
  contract('nova-01', 'an unknown server is 404 itemNotFound', async ({ tenant }) => {
    const answer = await tenant.user.raw('compute', { path: `/servers/${unknownId}` });
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({
      itemNotFound: { code: 404, message: `Instance ${unknownId} could not be found.` },
    });
  });

  contract('nova-02', 'an unknown marker is 400', async ({ tenant }) => {
    const answer = await tenant.user.raw('compute', {
      path: `/servers/detail?limit=1&marker=${unknownId}`,
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      badRequest: { code: 400, message: `marker [${unknownId}] not found` },
    });
  });

  contract('nova-03', 'a microversion that is too new is 406', async ({ tenant }) => {
    const headers = { 'openstack-api-version': 'compute 2.999' };
    const answer = await tenant.user.raw('compute', { path: '/servers/detail', headers });
    expect(answer.status).toBe(406);
  });

  contract(
    'nova-04',
    'the attach answers with the NIC as Neutron then lists it',
    async ({ tenant, netB, server }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      const attached = await tenant.attach(server.id, { portId: made.id });
      expect(attached).toEqual({
        port_id: made.id,
        mac_addr: made.mac_address,
        fixed_ips: made.fixed_ips,
      });
      expect(await tenant.port(made.id)).toMatchObject({ device_id: server.id, status: 'ACTIVE' });
      await tenant.detach(server.id, made.id);
    },
  );

  contract('nova-05', 'a port that is attached already is 409', async (setting) => {
    const { tenant, netB, server } = setting;
    const made = await tenant.createPort({ networkId: netB.id });
    await tenant.attach(server.id, { portId: made.id });
    const again = await attach(setting, server.id, { port_id: made.id });
    expect(again.status).toBe(409);
    expect(again.body).toEqual({
      conflictingRequest: { code: 409, message: `Port ${made.id} is still in use.` },
    });
    await tenant.detach(server.id, made.id);
  });

  contract('nova-06', 'an unknown port and an unknown server are 404', async (setting) => {
    const { netB, server } = setting;
    const port = await attach(setting, server.id, { port_id: unknownId });
    expect(port.status).toBe(404);
    expect(port.body).toEqual({
      itemNotFound: { code: 404, message: `Port id ${unknownId} could not be found.` },
    });
    expect((await attach(setting, unknownId, { net_id: netB.id })).status).toBe(404);
  });

  contract('nova-07', 'an unknown network is 500', async (setting) => {
    const answer = await attach(setting, setting.server.id, { net_id: unknownId });
    expect([answer.status, Object.keys(answer.body as object)]).toEqual([500, ['computeFault']]);
  });

  contract('nova-08', 'an address in use is 409', async (setting) => {
    const { tenant, netB, server } = setting;
    const made = await tenant.createPort({ networkId: netB.id });
    const ip = made.fixed_ips[0]?.ip_address;
    const answer = await attach(setting, server.id, {
      net_id: netB.id,
      fixed_ips: [{ ip_address: ip }],
    });
    expect(answer.status).toBe(409);
    expect(answer.body).toEqual({
      conflictingRequest: { code: 409, message: `Fixed IP ${ip} is already in use.` },
    });
  });

  contract(
    'nova-09',
    'a detach of what is not attached is accepted, too',
    async ({ tenant, netB, server }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      const path = `/servers/${server.id}/os-interface/${made.id}`;
      const answer = await tenant.user.raw('compute', { method: 'DELETE', path });
      expect([answer.status, answer.body]).toEqual([202, '']);
      expect(await tenant.port(made.id)).toMatchObject({ device_id: '' });
    },
  );

  contract(
    'nova-10',
    'a port can be attached again after a detach, with the same MAC and addresses',
    async ({ tenant, netB, server }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      const first = await tenant.attach(server.id, { portId: made.id });
      await tenant.detach(server.id, made.id);
      const second = await tenant.attach(server.id, { portId: made.id });
      expect(second).toEqual(first);
      await tenant.detach(server.id, made.id);
    },
  );

  contract(
    'nova-11',
    "another project's port is not usable for a server, not even by the administrator",
    async ({ tenant, stranger, server }) => {
      const network = await stranger.createNetwork({ name: 'foreign' });
      const made = await stranger.createPort({ networkId: network.id });
      const answer = await tenant.admin.raw('compute', {
        method: 'POST',
        path: `/servers/${server.id}/os-interface`,
        body: { interfaceAttachment: { port_id: made.id } },
      });
      const message = `Port ${made.id} not usable for instance ${server.id}.`;
      expect(answer.body).toEqual({ badRequest: { code: 400, message } });
    },
  );

  contract(
    'nova-12',
    'before microversion 2.26 the filter by tags is left out: every server is listed, without its tags',
    async ({ tenant, server }) => {
      const path = '/servers/detail?tags=nobody-has-it';
      const ids = async (version: string) => {
        const headers = { 'openstack-api-version': `compute ${version}` };
        const { body } = await tenant.user.raw('compute', { path, headers });
        const { servers } = body as { servers: readonly { readonly id: string }[] };
        return servers.map(({ id }) => id);
      };
      expect(await ids('2.25')).toContain(server.id);
      expect(await ids('2.26')).toEqual([]);
      const tagsOf = async (version: string) => {
        const headers = { 'openstack-api-version': `compute ${version}` };
        const { body } = await tenant.user.raw('compute', { path: '/servers/detail', headers });
        const { servers } = body as { servers: readonly { readonly id: string; tags?: unknown }[] };
        return servers.find(({ id }) => id === server.id)?.tags;
      };
      expect(await tagsOf('2.25')).toBeUndefined();
      expect(await tagsOf('2.26')).toEqual([]);
    },
  );
}

async function attach({ tenant }: Setting, serverId: string, wanted: object): Promise<RawAnswer> {
  return tenant.user.raw('compute', {
    method: 'POST',
    path: `/servers/${serverId}/os-interface`,
    body: { interfaceAttachment: wanted },
  });
}
