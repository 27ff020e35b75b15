import { expect } from 'vitest';
import type { Contract } from './contract.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

/** Subnets and networks, read through the product. */
export function networkTests(contract: Contract): void {
  contract(
    'network-01',
    'a subnet has its range, gateway and host routes',
    async ({ cloud, netA, tenant, signal }) => {
      expect(await cloud.subnet(netA.subnet4, signal())).toEqual({
        kind: 'found',
        value: {
          id: netA.subnet4,
          name: 'sub-a4',
          cidr: '10.10.0.0/16',
          networkId: netA.id,
          ipVersion: 4,
          gatewayIp: '10.10.0.1',
          hostRoutes: [{ destination: '192.168.0.0/16', nexthop: '10.10.0.3' }],
          projectId: tenant.projectId,
        },
      });
    },
  );

  contract('network-02', 'a subnet without a gateway has none', async ({ cloud, netB, signal }) => {
    const subnet = await cloud.subnet(netB.subnet, signal());
    expect(subnet).toMatchObject({ kind: 'found', value: { hostRoutes: [] } });
    expect(subnet.kind === 'found' && subnet.value.gatewayIp).toBeUndefined();
  });

  contract('network-03', 'an IPv6 subnet says so', async ({ cloud, netA, signal }) => {
    expect(await cloud.subnet(netA.subnet6, signal())).toMatchObject({
      value: { ipVersion: 6, cidr: 'fd00:10:10::/64', gatewayIp: 'fd00:10:10::' },
    });
  });

  contract('network-04', 'an unknown subnet is notFound', async ({ cloud, signal }) => {
    expect(await cloud.subnet(unknownId, signal())).toEqual({ kind: 'notFound' });
  });

  contract('network-05', 'a subnet is remembered', async ({ freshCloud, netA, signal }) => {
    const cloud = freshCloud();
    await cloud.subnet(netA.subnet4, signal());
    await cloud.subnet(netA.subnet4, signal());
    expect(cloud.calls).toBe(2);
  });

  contract('network-06', 'an unknown subnet is not remembered', async ({ freshCloud, signal }) => {
    const cloud = freshCloud();
    await cloud.subnet(unknownId, signal());
    await cloud.subnet(unknownId, signal());
    expect(cloud.calls).toBe(3);
  });

  contract('network-07', 'a subnet is found by its exact name', async ({ cloud, netB, signal }) => {
    const named = await cloud.subnetsByName('sub-b4', signal());
    expect(named.map((subnet) => subnet.id)).toEqual([netB.subnet]);
    expect(await cloud.subnetsByName('sub-b', signal())).toEqual([]);
  });

  contract(
    'network-08',
    'a name is looked for in the own project, also by the administrator',
    async (setting) => {
      const { stranger, clouds, identity, as, cloudUnderTest, netB, signal } = setting;
      const network = await stranger.createNetwork({ name: 'other' });
      await stranger.createSubnet({ networkId: network.id, cidr: '10.20.0.0/16', name: 'sub-b4' });
      const { username, password } = cloudUnderTest.admin;
      const admin = clouds.get({ ...identity, ...as({ username, password }) });
      const named = await admin.subnetsByName('sub-b4', signal());
      expect(named.map((subnet) => subnet.id)).toEqual([netB.subnet]);
    },
  );

  contract(
    'network-09',
    'two subnets of one name are both there',
    async ({ freshCloud, tenant, signal }) => {
      const network = await tenant.createNetwork({ name: 'twins' });
      for (const cidr of ['10.31.0.0/24', '10.31.1.0/24']) {
        await tenant.createSubnet({ networkId: network.id, cidr, name: 'twin' });
      }
      const named = await freshCloud().subnetsByName('twin', signal());
      expect(named.map((subnet) => subnet.cidr).toSorted()).toEqual([
        '10.31.0.0/24',
        '10.31.1.0/24',
      ]);
    },
  );

  contract('network-10', 'a network has its MTU', async ({ cloud, netA, netB, signal }) => {
    expect(await cloud.network(netA.id, signal())).toEqual({
      kind: 'found',
      value: { id: netA.id, name: 'net-a', mtu: 1450 },
    });
    expect(await cloud.network(netB.id, signal())).toMatchObject({ value: { mtu: 1400 } });
  });

  contract('network-11', 'an unknown network is notFound', async ({ cloud, signal }) => {
    expect(await cloud.network(unknownId, signal())).toEqual({ kind: 'notFound' });
  });

  contract('network-12', 'a network is remembered', async ({ freshCloud, netA, signal }) => {
    const cloud = freshCloud();
    await cloud.network(netA.id, signal());
    await cloud.network(netA.id, signal());
    expect(cloud.calls).toBe(2);
  });

  contract(
    'network-13',
    'the parts read what the Cloud reads',
    async ({ parts, cloud, netA, signal }) => {
      const { neutron } = parts();
      expect(await neutron.subnet(netA.subnet4, signal())).toEqual(
        await cloud.subnet(netA.subnet4, signal()),
      );
      expect(await neutron.network(netA.id, signal())).toEqual(
        await cloud.network(netA.id, signal()),
      );
      const named = await neutron.subnets([['name', 'sub-a4']], signal());
      expect(named.map((subnet) => subnet.id)).toEqual([netA.subnet4]);
    },
  );

  contract(
    'network-14',
    'a subnet in use and a network in use cannot be deleted',
    async ({ tenant, netB }) => {
      await tenant.createPort({ networkId: netB.id });
      const subnet = await tenant.user.raw('network', {
        method: 'DELETE',
        path: `/v2.0/subnets/${netB.subnet}`,
      });
      expect([subnet.status, errorType(subnet.body)]).toEqual([409, 'SubnetInUse']);
      const network = await tenant.user.raw('network', {
        method: 'DELETE',
        path: `/v2.0/networks/${netB.id}`,
      });
      expect([network.status, errorType(network.body)]).toEqual([409, 'NetworkInUse']);
    },
  );

  contract(
    'network-15',
    'a subnet that is deleted is notFound',
    async ({ cloud, tenant, signal }) => {
      const network = await tenant.createNetwork({ name: 'brief' });
      const subnet = await tenant.createSubnet({ networkId: network.id, cidr: '10.40.0.0/24' });
      await tenant.user.ask('network', { method: 'DELETE', path: `/v2.0/subnets/${subnet.id}` });
      expect(await cloud.subnet(subnet.id, signal())).toEqual({ kind: 'notFound' });
    },
  );

  contract(
    'network-18',
    'subnets and networks that are read at the same time take one list each',
    async ({ freshCloud, parts, netA, netB, signal }) => {
      const cloud = freshCloud();
      const networkIds = [netA.id, netB.id];
      const subnetIds = [netA.subnet4, netA.subnet6, netB.subnet];
      const [networks, subnets] = await Promise.all([
        Promise.all(networkIds.map(async (id) => cloud.network(id, signal()))),
        Promise.all(subnetIds.map(async (id) => cloud.subnet(id, signal()))),
      ]);
      expect(networks).toMatchObject(networkIds.map((id) => ({ value: { id } })));
      expect(subnets).toMatchObject(subnetIds.map((id) => ({ value: { id } })));
      expect(cloud.calls).toBe(3);
      const { neutron } = parts();
      const listed = await neutron.networks([['id', netA.id]], signal());
      expect(listed).toMatchObject([{ id: netA.id, mtu: 1450 }]);
    },
  );

  contract(
    'network-16',
    'what is remembered is read again when it has to be younger',
    async (of) => {
      const { freshCloud, netA, signal } = of;
      const cloud = freshCloud();
      const read = async () => {
        await cloud.subnet(netA.subnet4, signal());
        await cloud.network(netA.id, signal());
        return cloud.calls;
      };
      const known = () => [netA.id, netA.subnet4, unknownId].map((id) => cloud.knowsNetwork([id]));
      expect(known()).toEqual([false, false, false]);
      const before = await read();
      expect(known()).toEqual([true, true, false]);
      cloud.freshen(0);
      expect(await read()).toBe(before);
      cloud.freshen(Number.POSITIVE_INFINITY);
      expect(await read()).toBe(before + 2);
    },
  );

  contract('network-17', 'knows as whom it asks once it has asked', async (of) => {
    const { freshCloud, netA, signal } = of;
    const cloud = freshCloud();
    expect(cloud.isOf([unknownId])).toBe(true);
    expect(cloud.isOf([])).toBe(false);
    await cloud.network(netA.id, signal());
    expect(cloud.isOf([unknownId])).toBe(false);
    expect(cloud.isOf([unknownId, cloud.projectId ?? ''])).toBe(true);
    expect(cloud.isOf(['default'])).toBe(true);
  });
}

function errorType(body: unknown): unknown {
  return (body as { NeutronError?: { type?: unknown } }).NeutronError?.type;
}
