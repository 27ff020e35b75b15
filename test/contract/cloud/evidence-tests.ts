import { expect } from 'vitest';
import * as z from 'zod';
import { make, remove, until } from '../../../rig/openstack/requests.ts';
import type { Contract } from './contract.ts';
import type { Setting } from './setting.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';
const attachments = z.object({ interfaceAttachments: z.array(z.object({ port_id: z.string() })) });

/** Evidence for the removal of a NIC, and answers that only resemble evidence. */
export function evidenceTests(contract: Contract): void {
  contract(
    'evidence-01',
    "Nova's record of a server has the MACs of its ports that have an address",
    async ({ cloud, tenant, netB, server, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      await tenant.attach(server.id, { portId: made.id });
      const ports = await cloud.portsOf([server.id], signal());
      const macs = ports.map((port) => port.macAddress);
      expect(macs).toContain(made.mac_address);
      expect((await recorded({ cloud, signal }, server.id)).toSorted()).toEqual(macs.toSorted());
      await tenant.detach(server.id, made.id);
      await until('the record has let it go', async () => {
        const now = await recorded({ cloud, signal }, server.id);
        return !now.includes(made.mac_address);
      });
    },
  );

  contract(
    'evidence-02',
    "of a port that is deleted, os-interface knows at once, as it is Neutron's list; Nova's record when the event arrives",
    async ({ cloud, tenant, netB, server, signal }) => {
      const attached = await tenant.attach(server.id, { networkId: netB.id });
      await tenant.deletePort(attached.port_id);
      expect(await cloud.port(attached.port_id, signal())).toEqual({ kind: 'notFound' });
      expect(await listedNics(tenant.user, server.id)).not.toContain(attached.port_id);
      await until('the record has let it go', async () => {
        const macs = await recorded({ cloud, signal }, server.id);
        return !macs.includes(attached.mac_addr);
      });
    },
  );

  contract(
    'evidence-03',
    'a port whose addresses are taken stays attached and listed; they can be given again',
    async ({ cloud, tenant, netB, server, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      await tenant.attach(server.id, { portId: made.id });
      const bare = await tenant.updatePort(made.id, { fixed_ips: [] });
      expect(bare).toMatchObject({ device_id: server.id, fixed_ips: [] });
      const listed = await cloud.portsOf([server.id], signal());
      expect(listed.find((port) => port.id === made.id)).toMatchObject({ fixedIps: [] });
      expect(await listedNics(tenant.user, server.id)).toContain(made.id);
      await until('the record, which is one of addresses, has it no more', async () => {
        const macs = await recorded({ cloud, signal }, server.id);
        return !macs.includes(made.mac_address);
      });
      const fixed = [{ subnet_id: netB.subnet, ip_address: '10.20.9.9' }];
      expect((await tenant.updatePort(made.id, { fixed_ips: fixed })).fixed_ips).toEqual(fixed);
      await until('the record has it again', async () =>
        (await recorded({ cloud, signal }, server.id)).includes(made.mac_address),
      );
      await tenant.detach(server.id, made.id);
    },
  );

  contract(
    'evidence-04',
    'a shared network and its subnet can be read by every project, the ports on it by their owners',
    async ({ cloud, tenant, stranger, signal }) => {
      const shared = { name: 'shared', shared: true };
      const { admin } = stranger;
      const network = await make(admin, 'network', '/v2.0/networks', 'network', shared);
      const made = { network_id: network.id, cidr: '10.60.0.0/24', ip_version: 4, name: 'common' };
      const subnet = await make(admin, 'network', '/v2.0/subnets', 'subnet', made);
      const theirs = await stranger.createPort({ networkId: network.id });
      const own = await tenant.createPort({ networkId: network.id });
      expect(await cloud.network(network.id, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.subnet(subnet.id, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.port(own.id, signal())).toMatchObject({ kind: 'found' });
      expect(await cloud.port(theirs.id, signal())).toEqual({ kind: 'notFound' });
      await tenant.deletePort(own.id);
      await stranger.deletePort(theirs.id);
      await remove(admin, 'network', `/v2.0/networks/${network.id}`);
    },
  );

  contract(
    'evidence-05',
    'ids are compared without case, and answered as they are stored',
    async ({ freshCloud, tenant, netA, server, signal }) => {
      const cloud = freshCloud();
      const [port] = await cloud.portsOf([server.id], signal());
      if (port === undefined) throw new Error('the server has no port');
      const read = await cloud.port(port.id.toUpperCase(), signal());
      // Listed ports are compact.
      expect(port).toMatchObject(read.kind === 'found' ? read.value : { id: read.kind });
      expect(await cloud.portsOf([server.id.toUpperCase()], signal())).toContainEqual(port);
      const path = `/v2.0/ports?device_id=${server.id.toUpperCase()}&fields=id&fields=device_id`;
      expect(await tenant.user.ask('network', { path })).toMatchObject({
        ports: expect.arrayContaining([{ id: port.id, device_id: server.id }]) as unknown,
      });
      for (const found of [
        await cloud.server(server.id.toUpperCase(), signal()),
        await cloud.subnet(netA.subnet4.toUpperCase(), signal()),
        await cloud.network(netA.id.toUpperCase(), signal()),
      ]) {
        expect([server.id, netA.subnet4, netA.id]).toContain(
          found.kind === 'found' ? found.value.id : undefined,
        );
      }
    },
  );

  contract(
    'evidence-06',
    'a server that was deleted is listed so for a while; one that never was is not',
    async ({ freshCloud, tenant, netB, server, signal }) => {
      const cloud = freshCloud();
      const doomed = await tenant.createServer({ name: 'listed', networkIds: [netB.id] });
      await tenant.deleteServer(doomed.id);
      expect(await cloud.wasDeleted(doomed.id, signal())).toBe(true);
      expect(await cloud.wasDeleted(server.id, signal())).toBe(false);
      expect(await cloud.wasDeleted(unknownId, signal())).toBe(false);
      const soft = await cloud.softDeleted(signal());
      expect([soft.has(doomed.id), soft.has(server.id)]).toEqual([false, false]);
    },
  );

  contract(
    'evidence-07',
    'what changed since a time is listed with the deleted ones, without which the plain list is',
    async ({ parts, tenant, netB, server, signal }) => {
      const { nova } = parts({ pageSize: 1 });
      const doomed = await tenant.createServer({ name: 'changed', networkIds: [netB.id] });
      await tenant.deleteServer(doomed.id);
      const changed = await nova.changedSince(new Date(Date.now() - 3_600_000), signal());
      expect(changed.get(doomed.id)?.status).toBe('DELETED');
      expect(changed.get(server.id)?.status).toBe('ACTIVE');
      expect([...(await nova.list(signal())).keys()]).not.toContain(doomed.id);
      const later = await nova.changedSince(new Date(Date.now() + 3_600_000), signal());
      expect([...later.keys()]).toEqual([]);
    },
  );

  contract('evidence-08', 'a time that is none is 400', async ({ tenant }) => {
    const path = '/servers/detail?changes-since=nonsense';
    expect((await tenant.user.raw('compute', { path })).status).toBe(400);
  });

  contract(
    'evidence-09',
    'a server in ERROR, and one that is shelved, keep their ports and their record',
    async ({ cloud, tenant, netB, signal }) => {
      const { id } = await tenant.createServer({ name: 'moody', networkIds: [netB.id] });
      const before = await recorded({ cloud, signal }, id);
      expect(before).toHaveLength(1);
      const path = `/servers/${id}/action`;
      const reset = { 'os-resetState': { state: 'error' } };
      await tenant.admin.ask('compute', { method: 'POST', path, body: reset });
      expect(await cloud.server(id, signal())).toMatchObject({ value: { status: 'ERROR' } });
      expect(await cloud.portsOf([id], signal())).toHaveLength(1);
      expect(await recorded({ cloud, signal }, id)).toEqual(before);
      const active = { 'os-resetState': { state: 'active' } };
      await tenant.admin.ask('compute', { method: 'POST', path, body: active });
      await tenant.user.ask('compute', { method: 'POST', path, body: { shelve: null } });
      await until('it is shelved', async () => {
        const server = await cloud.server(id, signal());
        return server.kind === 'found' && server.value.status === 'SHELVED_OFFLOADED';
      });
      expect(await cloud.portsOf([id], signal())).toHaveLength(1);
      expect(await recorded({ cloud, signal }, id)).toEqual(before);
      await tenant.deleteServer(id);
    },
  );

  contract('evidence-10', 'a member resets no states', async ({ tenant, server }) => {
    const path = `/servers/${server.id}/action`;
    const body = { 'os-resetState': { state: 'error' } };
    expect((await tenant.user.raw('compute', { method: 'POST', path, body })).status).toBe(403);
  });

  contract(
    'evidence-11',
    'an account that loses a role logs in as before, and sees neither server nor port nor NICs of others any more',
    async (setting) => {
      const { tenant, stranger, freshCloud, as, netB, server, signal } = setting;
      const account = await stranger.createAccount(['admin', 'member']);
      const { username, password } = account;
      const asAccount = as({ username, password, projectId: stranger.projectId });
      const made = await tenant.createPort({ networkId: netB.id });
      await tenant.attach(server.id, { portId: made.id });
      const before = freshCloud(asAccount);
      expect(await before.port(made.id, signal())).toMatchObject({ kind: 'found' });
      expect(await before.server(server.id, signal())).toMatchObject({ kind: 'found' });
      await account.revoke('admin');
      const after = freshCloud(asAccount);
      expect(await after.port(made.id, signal())).toEqual({ kind: 'notFound' });
      expect(await after.server(server.id, signal())).toEqual({ kind: 'notFound' });
      expect(await after.portsOf([server.id], signal())).toEqual([]);
      expect(await after.wasDeleted(server.id, signal())).toBe(false);
      await account.grant('admin');
      expect(await freshCloud(asAccount).port(made.id, signal())).toMatchObject({ kind: 'found' });
      await tenant.detach(server.id, made.id);
    },
  );

  contract(
    'evidence-12',
    'ports are found by their MAC, in any case of letters',
    async ({ cloud, parts, tenant, netB, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      const byMac = await cloud.portsWithMac(made.mac_address.toUpperCase(), signal());
      expect(byMac.map((port) => port.id)).toEqual([made.id]);
      expect(await parts().neutron.portsWithMac('fa:16:3e:99:99:99', signal())).toEqual([]);
    },
  );

  contract(
    'evidence-13',
    'names are compared without case: of subnets whose names differ in case the exact one is taken',
    async ({ cloud, tenant, signal }) => {
      const network = await tenant.createNetwork({ name: 'cases' });
      const [lower] = await Promise.all([
        tenant.createSubnet({ networkId: network.id, cidr: '10.32.0.0/24', name: 'lan' }),
        tenant.createSubnet({ networkId: network.id, cidr: '10.32.1.0/24', name: 'LAN' }),
      ]);
      const exact = await cloud.subnetsByName('lan', signal());
      expect(exact.map((subnet) => subnet.id)).toEqual([lower.id]);
      expect(await cloud.subnetsByName('Lan', signal())).toHaveLength(2);
    },
  );

  contract(
    'evidence-14',
    'a port whose device is taken by Neutron alone is no more in os-interface',
    async ({ cloud, tenant, netB, server, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      await tenant.attach(server.id, { portId: made.id });
      expect(await listedNics(tenant.user, server.id)).toContain(made.id);
      await tenant.updatePort(made.id, { device_id: '' });
      expect(await listedNics(tenant.user, server.id)).not.toContain(made.id);
      expect(await cloud.port(made.id, signal())).toMatchObject({ value: { deviceId: '' } });
      await tenant.deletePort(made.id);
    },
  );

  contract(
    'evidence-15',
    'evidence is read every time, never remembered',
    async ({ freshCloud, server, signal }) => {
      const cloud = freshCloud();
      const [port] = await cloud.portsOf([server.id], signal());
      await cloud.servers([server.id], signal());
      const before = cloud.calls;
      for (let time = 1; time <= 2; time++) {
        await cloud.port(port?.id ?? '', signal());
        await cloud.server(server.id, signal());
        await cloud.portsWithMac(port?.macAddress ?? '', signal());
        expect(cloud.calls).toBe(before + 3 * time);
      }
    },
  );
}

async function recorded({ cloud, signal }: Pick<Setting, 'cloud' | 'signal'>, serverId: string) {
  const server = await cloud.server(serverId, signal());
  if (server.kind !== 'found') throw new Error(`server ${serverId} is not there`);
  if (server.value.macAddresses === undefined) throw new Error('the record has no addresses');
  return server.value.macAddresses;
}

async function listedNics(user: Setting['tenant']['user'], serverId: string): Promise<string[]> {
  const body = await user.ask('compute', { path: `/servers/${serverId}/os-interface` });
  return attachments.parse(body).interfaceAttachments.map((nic) => nic.port_id);
}
