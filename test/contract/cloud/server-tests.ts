import { expect } from 'vitest';
import type { Contract } from './contract.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

/** Servers, read through the product. */
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
      // A login, a list, and ten requests for unknown ids: the servers may belong to a foreign project.
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

  contract(
    'server-12',
    'the servers of the project are listed with name and metadata as they are now, others are not',
    async ({ freshCloud, tenant, stranger, netB, signal }) => {
      const cloud = freshCloud();
      const network = await stranger.createNetwork({ name: 'listed' });
      await stranger.createSubnet({ networkId: network.id, cidr: '10.51.0.0/24' });
      const foreign = await stranger.createServer({ name: 'twin', networkIds: [network.id] });
      const own = await tenant.createServer({ name: 'twin', networkIds: [netB.id] });
      const first = await cloud.projectServers([], 0, signal());
      expect(first.get(own.id)).toMatchObject({ name: 'twin', metadata: {} });
      expect(first.has(foreign.id)).toBe(false);
      await tenant.changeServer(own.id, { name: 'other.name(1)', metadata: { pool: 'a b' } });
      const known = await cloud.projectServers([], 0, signal());
      expect(known.get(own.id)?.name).toBe('twin');
      const fresh = await cloud.projectServers([], Number.POSITIVE_INFINITY, signal());
      expect(fresh.get(own.id)).toMatchObject({
        name: 'other.name(1)',
        metadata: { pool: 'a b' },
      });
      await tenant.deleteServer(own.id);
      await stranger.deleteServer(foreign.id);
    },
  );

  contract(
    'server-13',
    'servers are listed by tags, all of which they must carry, and a server tells its tags',
    async ({ freshCloud, tenant, netB, signal }) => {
      const cloud = freshCloud();
      const both = await tenant.createServer({ name: 'both', networkIds: [netB.id] });
      const one = await tenant.createServer({ name: 'one', networkIds: [netB.id] });
      await tenant.changeServer(both.id, { tags: ['multi nic', 'Edge'] });
      await tenant.changeServer(one.id, { tags: ['multi nic'] });
      const listed = async (tags: readonly string[]) =>
        [
          ...(await cloud.projectServers(tags, Number.POSITIVE_INFINITY, signal())).keys(),
        ].toSorted();
      expect(await listed(['multi nic'])).toEqual([both.id, one.id].toSorted());
      expect(await listed(['multi nic', 'Edge'])).toEqual([both.id]);
      expect(await listed(['nobody has it'])).toEqual([]);
      const told = await cloud.serverTags(both.id, signal());
      expect(told.kind === 'found' && told.value.toSorted()).toEqual(['Edge', 'multi nic']);
      expect(await cloud.serverTags(unknownId, signal())).toEqual({ kind: 'notFound' });
      await tenant.changeServer(both.id, { tags: [] });
      expect(await listed(['multi nic'])).toEqual([one.id]);
      expect(await cloud.serverTags(both.id, signal())).toEqual({ kind: 'found', value: [] });
      await tenant.deleteServer(both.id);
      await tenant.deleteServer(one.id);
    },
  );

  contract(
    'server-14',
    'a list by tags that Nova pages is read to its end',
    async ({ parts, tenant, netB, signal }) => {
      const made = [
        await tenant.createServer({ name: 'first', networkIds: [netB.id] }),
        await tenant.createServer({ name: 'second', networkIds: [netB.id] }),
      ];
      for (const { id } of made) await tenant.changeServer(id, { tags: ['paged'] });
      const { nova } = parts({ pageSize: 1 });
      const ids = [...(await nova.tagged(['paged'], signal())).keys()];
      expect(ids.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
      const [first] = ids;
      expect(await nova.tags(first ?? '', signal())).toEqual({ kind: 'found', value: ['paged'] });
      for (const { id } of made) await tenant.deleteServer(id);
    },
  );
}
