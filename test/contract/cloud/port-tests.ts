import { expect } from 'vitest';
import { until } from '../../../rig/openstack/requests.ts';
import type { PortFilter } from '../../../src/openstack/resources.ts';
import type { Contract } from './contract.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

/** Ports, read through the product. */
export function portTests(contract: Contract): void {
  contract(
    'port-01',
    'the port of a booted server arrives with all its fields',
    async ({ cloud, server, tenant, netA, signal }) => {
      const ports = await cloud.portsOf([server.id], signal());
      const port = ports.find((candidate) => candidate.networkId === netA.id);
      expect(port).toMatchObject({
        networkId: netA.id,
        status: 'ACTIVE',
        deviceId: server.id,
        projectId: tenant.projectId,
      });
      // Nova writes the availability zone behind the colon.
      expect(port?.deviceOwner).toMatch(/^compute:[\w-]+$/);
      expect(port?.macAddress).toMatch(/^fa:16:3e(:[0-9a-f]{2}){3}$/);
      expect(port?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(port?.revisionNumber).toBeGreaterThan(0);
    },
  );

  contract(
    'port-02',
    'a dual-stack port has an address of each family',
    async ({ cloud, server, netA, signal }) => {
      const ports = await cloud.portsOf([server.id], signal());
      const port = ports.find((candidate) => candidate.networkId === netA.id);
      const subnets = port?.fixedIps.map((ip) => ip.subnetId);
      expect(subnets?.toSorted()).toEqual([netA.subnet4, netA.subnet6].toSorted());
    },
  );

  contract('port-03', 'no servers are no ports and no call', async ({ freshCloud, signal }) => {
    const cloud = freshCloud();
    expect(await cloud.portsOf([], signal())).toEqual([]);
    expect(await cloud.portsOf([''], signal())).toEqual([]);
    expect(cloud.calls).toBe(0);
  });

  contract('port-04', 'a server that does not exist has no ports', async ({ cloud, signal }) => {
    expect(await cloud.portsOf([unknownId], signal())).toEqual([]);
  });

  contract(
    'port-05',
    'servers beyond 100 are asked for in further calls and the answer is complete',
    async ({ freshCloud, server, signal }) => {
      const cloud = freshCloud();
      const strangers = Array.from({ length: 240 }, () => crypto.randomUUID());
      const ids = [...strangers.slice(0, 200), server.id, ...strangers.slice(200), server.id];
      const ports = await cloud.portsOf(ids, signal());
      expect(ports.length).toBeGreaterThan(0);
      expect(new Set(ports.map((port) => port.deviceId))).toEqual(new Set([server.id]));
      expect(new Set(ports.map((port) => port.id)).size).toBe(ports.length);
      // A login, three lists, and a fourth list that shows whether Neutron filters by all servers.
      expect(cloud.calls).toBe(5);
    },
  );

  contract(
    'port-06',
    'a port of the tenant is attached by its id and detached again, unbound and kept',
    async ({ cloud, tenant, netB, server, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id, name: 'kept' });
      await tenant.attach(server.id, { portId: made.id });
      const attached = (await cloud.portsOf([server.id], signal())).find(
        (port) => port.id === made.id,
      );
      expect(attached).toMatchObject({
        name: 'kept',
        status: 'ACTIVE',
        macAddress: made.mac_address,
      });
      await tenant.detach(server.id, made.id);
      const ports = await cloud.portsOf([server.id], signal());
      expect(ports.map((port) => port.id)).not.toContain(made.id);
      expect(await cloud.port(made.id, signal())).toMatchObject({
        kind: 'found',
        value: { deviceId: '', deviceOwner: '', status: 'DOWN', macAddress: made.mac_address },
      });
    },
  );

  contract(
    'port-07',
    'a port that Nova made for an attach is gone after the detach',
    async ({ cloud, tenant, netB, server, signal }) => {
      const { port_id: id } = await tenant.attach(server.id, { networkId: netB.id });
      const ports = await cloud.portsOf([server.id], signal());
      expect(ports.map((port) => port.id)).toContain(id);
      await tenant.detach(server.id, id);
      await until(
        'the port is gone',
        async () => (await cloud.port(id, signal())).kind === 'notFound',
      );
      const after = await cloud.portsOf([server.id], signal());
      expect(after.map((port) => port.id)).not.toContain(id);
    },
  );

  contract('port-09', 'a port that never existed is notFound', async ({ cloud, signal }) => {
    expect(await cloud.port(unknownId, signal())).toEqual({ kind: 'notFound' });
  });

  contract(
    'port-10',
    'a port attached to nothing has an empty device and is DOWN',
    async ({ cloud, tenant, netB, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      expect(await cloud.port(made.id, signal())).toMatchObject({
        kind: 'found',
        value: { deviceId: '', status: 'DOWN', name: '' },
      });
    },
  );

  contract(
    'port-11',
    'a MAC in upper case is read in lower case',
    async ({ cloud, tenant, netB, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id, macAddress: 'FA:16:3E:AB:CD:01' });
      expect(await cloud.port(made.id, signal())).toMatchObject({
        value: { macAddress: 'fa:16:3e:ab:cd:01' },
      });
    },
  );

  contract(
    'port-12',
    'a port can have two addresses of one subnet',
    async ({ cloud, tenant, netB, signal }) => {
      const fixedIps = ['10.20.7.1', '10.20.7.2'].map((ipAddress) => ({
        ipAddress,
        subnetId: netB.subnet,
      }));
      const made = await tenant.createPort({ networkId: netB.id, fixedIps });
      const port = await cloud.port(made.id, signal());
      expect(
        port.kind === 'found' &&
          port.value.fixedIps.toSorted((a, b) => a.ipAddress.localeCompare(b.ipAddress)),
      ).toEqual(fixedIps);
    },
  );

  contract(
    'port-13',
    'every change moves the revision',
    async ({ cloud, tenant, netB, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      const before = await cloud.port(made.id, signal());
      const path = `/v2.0/ports/${made.id}`;
      await tenant.user.ask('network', {
        method: 'PUT',
        path,
        body: { port: { name: 'renamed' } },
      });
      const after = await cloud.port(made.id, signal());
      if (before.kind !== 'found' || after.kind !== 'found') throw new Error('the port is gone');
      expect(after.value.name).toBe('renamed');
      expect(after.value.revisionNumber).toBeGreaterThan(before.value.revisionNumber);
    },
  );

  contract(
    'port-14',
    "another project's port is notFound for a member and found for the administrator",
    async (setting) => {
      const { stranger, cloud, clouds, identity, as, cloudUnderTest, signal } = setting;
      const network = await stranger.createNetwork({ name: 'hidden' });
      const made = await stranger.createPort({ networkId: network.id });
      expect(await cloud.port(made.id, signal())).toEqual({ kind: 'notFound' });
      const { username, password } = cloudUnderTest.admin;
      const admin = clouds.get({ ...identity, ...as({ username, password }) });
      expect(await admin.port(made.id, signal())).toMatchObject({ kind: 'found' });
    },
  );

  contract(
    'port-15',
    'a list that the server pages is read to its end',
    async ({ parts, tenant, netB, signal }) => {
      const { neutron } = parts();
      const filter = [['network_id', netB.id]] as const;
      for (let i = 0; i < 5; i++) await tenant.createPort({ networkId: netB.id });
      const whole = await neutron.ports(filter, signal());
      const paged = await neutron.ports([...filter, ['limit', '2']], signal());
      expect(whole.length).toBeGreaterThanOrEqual(5);
      expect(idsOf(paged)).toEqual(idsOf(whole));
    },
  );

  contract(
    'port-16',
    'the parts read what the Cloud reads',
    async ({ parts, cloud, server, signal }) => {
      const { neutron } = parts();
      const [ports, same] = [
        await neutron.portsOf([server.id], signal()),
        await cloud.portsOf([server.id], signal()),
      ];
      expect(idsOf(ports)).toEqual(idsOf(same));
      const id = ports[0]?.id ?? '';
      expect(await neutron.port(id, signal())).toEqual(await cloud.port(id, signal()));
    },
  );

  contract(
    'port-17',
    'ports of the project are found by MAC, by IP address and by server, and one by id with admin_state_up',
    async ({ parts, cloud, tenant, netB, server, signal }) => {
      const made = await tenant.createPort({ networkId: netB.id });
      const ipAddress = made.fixed_ips[0]?.ip_address ?? '';
      const ids = async (filter: PortFilter) => idsOf(await cloud.projectPorts(filter, signal()));
      expect(await ids({ macAddress: made.mac_address })).toEqual([made.id]);
      expect(await ids({ ipAddress })).toContain(made.id);
      expect(await ids({ ipAddress: '192.0.2.77' })).toEqual([]);
      const ofServer = idsOf(await cloud.portsOf([server.id], signal()));
      expect(await ids({ serverId: server.id })).toEqual(ofServer);
      const found = await cloud.port(made.id, signal());
      const value = found.kind === 'found' ? found.value : undefined;
      const record = { kind: 'found', value: { ...value, adminStateUp: true } };
      expect(await cloud.portRecord(made.id, signal())).toEqual(record);
      expect(await parts().neutron.portRecord(made.id, signal())).toEqual(record);
      await tenant.updatePort(made.id, { admin_state_up: false });
      expect(await cloud.portRecord(made.id, signal())).toMatchObject({
        value: { adminStateUp: false },
      });
    },
  );

  contract(
    'port-18',
    'a port of a server is read by id with owner, project, status, creation time and addresses',
    async ({ cloud, tenant, netB, server, signal }) => {
      const { id, mac_address, fixed_ips } = await tenant.createPort({ networkId: netB.id });
      const addresses = fixed_ips.map(({ subnet_id: subnetId, ip_address: ipAddress }) => ({
        subnetId,
        ipAddress,
      }));
      const free = { deviceId: '', deviceOwner: '', status: 'DOWN', fixedIps: addresses };
      expect(await cloud.portRecord(id, signal())).toMatchObject({ kind: 'found', value: free });
      await tenant.attach(server.id, { portId: id });
      const found = await cloud.portRecord(id, signal());
      await tenant.detach(server.id, id);
      expect(found).toMatchObject({
        kind: 'found',
        value: {
          id,
          macAddress: mac_address,
          networkId: netB.id,
          projectId: tenant.projectId,
          deviceId: server.id,
          status: 'ACTIVE',
          adminStateUp: true,
          fixedIps: addresses,
        },
      });
      const { deviceOwner, createdAt } = found.kind === 'found' ? found.value : {};
      expect(deviceOwner).toMatch(/^compute:[\w-]+$/);
      expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    },
  );
}

function idsOf(ports: readonly { readonly id: string }[]): string[] {
  return ports.map((port) => port.id).toSorted();
}
