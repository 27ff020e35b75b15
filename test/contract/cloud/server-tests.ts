import { expect } from 'vitest';
import type { Contract } from './suite.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

/** Servers as the product reads them. */
export function serverTests(contract: Contract): void {
  contract(
    'server-01',
    'a server has its name, status and metadata',
    async ({ cloud, server, tenant: { projectId }, signal }) => {
      const { id, name } = server;
      const found = await cloud.server(id, signal());
      expect(found).toMatchObject({
        kind: 'found',
        value: { id, name, status: 'ACTIVE', metadata: { role: 'worker' }, projectId },
      });
    },
  );

  contract(
    'server-02',
    'an unknown server is notFound, whatever its id looks like',
    async ({ cloud, signal }) => {
      expect(await cloud.server(unknownId, signal())).toEqual({ kind: 'notFound' });
      expect(await cloud.server('not-a-uuid', signal())).toEqual({ kind: 'notFound' });
    },
  );

  contract(
    'server-03',
    'servers come by id and an unknown one is absent',
    async ({ cloud, server, signal }) => {
      const servers = await cloud.servers([server.id, unknownId, ''], signal());
      expect([...servers.keys()]).toEqual([server.id]);
      expect(servers.get(server.id)).toMatchObject({
        name: server.name,
        metadata: { role: 'worker' },
      });
    },
  );

  contract(
    'server-04',
    'names are remembered, unknown ids too',
    async ({ freshCloud, server, signal }) => {
      const cloud = freshCloud();
      await cloud.servers([server.id, unknownId], signal());
      const { calls } = cloud;
      await cloud.servers([unknownId, server.id], signal());
      expect(cloud.calls).toBe(calls);
    },
  );

  contract(
    'server-05',
    'many servers cost one list and few reads by id',
    async ({ freshCloud, server, signal }) => {
      const cloud = freshCloud();
      const ids = [server.id, ...Array.from({ length: 60 }, () => crypto.randomUUID())];
      const servers = await cloud.servers(ids, signal());
      expect([...servers.keys()]).toEqual([server.id]);
      // A login, a list, and ten of the unknown ids: they could belong to another project.
      expect(cloud.calls).toBe(12);
    },
  );

  contract(
    'server-06',
    'a list of servers that Nova pages is read to its end',
    async ({ parts, tenant, netB, server, signal }) => {
      const more = await tenant.createServer({ name: 'second', networkIds: [netB.id] });
      const third = await tenant.createServer({ name: 'third', networkIds: [netB.id] });
      const { nova } = parts({ pageSize: 1 });
      const servers = await nova.list(signal());
      expect([...servers.keys()]).toEqual(expect.arrayContaining([server.id, more.id, third.id]));
      await tenant.deleteServer(more.id);
      await tenant.deleteServer(third.id);
    },
  );

  contract(
    'server-07',
    'a deleted server is notFound; its kept port is unbound, its own port is gone',
    async ({ cloud, tenant, netB, signal }) => {
      const kept = await tenant.createPort({ networkId: netB.id });
      const doomed = await tenant.createServer({
        name: 'doomed',
        networkIds: [netB.id],
        portIds: [kept.id],
      });
      const ports = await cloud.portsOf([doomed.id], signal());
      expect(ports).toHaveLength(2);
      await tenant.deleteServer(doomed.id);
      expect(await cloud.server(doomed.id, signal())).toEqual({ kind: 'notFound' });
      expect(await cloud.portsOf([doomed.id], signal())).toEqual([]);
      expect(await cloud.port(kept.id, signal())).toMatchObject({
        kind: 'found',
        value: { deviceId: '' },
      });
      const own = ports.find((port) => port.id !== kept.id);
      expect(await cloud.port(own?.id ?? '', signal())).toEqual({ kind: 'notFound' });
    },
  );

  contract(
    'server-10',
    "another project's server is notFound for a member and found for the administrator",
    async (setting) => {
      const { stranger, cloud, clouds, identity, as, cloudUnderTest, signal } = setting;
      const network = await stranger.createNetwork({ name: 'theirs' });
      await stranger.createSubnet({ networkId: network.id, cidr: '10.50.0.0/24' });
      const theirs = await stranger.createServer({ name: 'theirs', networkIds: [network.id] });
      expect(await cloud.server(theirs.id, signal())).toEqual({ kind: 'notFound' });
      const { username, password } = cloudUnderTest.admin;
      const admin = clouds.get({ ...identity, ...as({ username, password }) });
      expect((await admin.servers([theirs.id], signal())).get(theirs.id)?.name).toBe('theirs');
    },
  );

  contract(
    'server-11',
    'the parts read what the Cloud reads',
    async ({ parts, cloud, server, signal }) => {
      const { nova } = parts();
      expect(await nova.server(server.id, signal())).toEqual(
        await cloud.server(server.id, signal()),
      );
    },
  );
}
