import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ObservedPorts } from '../../../src/store/observed-ports.ts';
import type { Store } from '../../../src/store/store.ts';
import { nic, node, type StoreUnderTest, tables } from './suite.ts';

const author = { namespace: 'multinic-system', name: 'osc', generation: 3 };
const other = { ...author, name: 'other' };
const start = new Date('2026-01-09T06:23:29Z');
const later = new Date('2026-02-01T00:00:00Z');
const portMade = '2026-01-02T00:00:00Z';

const entry = (n: number) => nic(n, { subnetId: 'sub', networkId: 'net' });

export function observed(
  change: { status?: string; name?: string } & Partial<ObservedPorts> = {},
): ObservedPorts {
  const { status = 'ACTIVE', name = 'storage', ...rest } = change;
  const port = { status, addresses: ['10.0.0.5'], createdAt: portMade };
  const subnet = { id: 'sub', name, cidr: '10.0.0.0/24', networkId: 'net', networkName: 'data' };
  return {
    ports: new Map(['p0', 'p1'].map((id) => [id, port])),
    subnets: new Map([['sub', subnet]]),
    configured: new Set(),
    specHash: 'hash-1',
    ...rest,
  };
}

const portAt = (address: string) => ({ status: 'ACTIVE', addresses: [address] });

/** An observation of a port with this address, beside a port without time. */
function at(address: string, ...configured: string[]): ObservedPorts {
  const ports = new Map([
    ['p0', { ...portAt(address), createdAt: portMade }],
    ['p1', { ...portAt('10.0.0.9'), createdAt: '0001-01-01T00:00:00Z' }],
  ]);
  return observed({ ports, configured: new Set(configured) });
}

function named(name: string, networkName: string): ObservedPorts {
  const subnet = { id: 'sub', name, cidr: '10.0.0.0/24', networkId: 'net', networkName };
  return observed({ subnets: new Map([['sub', subnet]]) });
}

/** Tables shared with the legacy system, in the form for every database. */
export function legacyTablesContract(title: string, open: () => Promise<StoreUnderTest>): void {
  describe(title, () => {
    let world: StoreUnderTest;
    let store: Store;
    let now = start;

    beforeAll(async () => {
      world = await open();
      store = await world.open(() => now);
      await store.list();
    });

    beforeEach(async () => {
      now = start;
      await world.empty();
    });

    afterAll(async () => {
      await store[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    });

    const rowsOf = async (table: string) => world.query(`select * from ${table} order by id`);
    const n1 = node('n1', { interfaces: [entry(0), entry(1)] });

    /** All rows in the tables. */
    async function everything() {
      return Promise.all(
        tables.map((table) => world.query(`select * from ${table} order by 1, 2`)),
      );
    }

    it('rows have the observed NICs, subnets, servers and OpenstackConfigs', async () => {
      await store.record('biz-1', author, [n1], {
        sighting: observed({ configured: new Set(['p1']) }),
      });
      const [first, second] = await rowsOf('multi_interface');
      expect(first).toEqual({
        id: first?.id,
        port_id: 'p0',
        subnet_id: 'sub',
        macaddress: 'fa:16:3e:00:00:00',
        attached_node_id: 'server-n1',
        attached_node_name: 'n1',
        cr_namespace: 'multinic-system',
        cr_name: 'osc',
        netplan_success: 0,
        status: 'active',
        created_at: '2026-01-02 00:00:00.000',
        modified_at: '2026-01-09 06:23:29.000',
        deleted_at: null,
        provider_id: 'biz-1',
        network_id: 'net',
        port_status: 'ACTIVE',
        addresses: '["10.0.0.5"]',
      });
      expect(second).toMatchObject({ port_id: 'p1', netplan_success: 1 });
      const [subnet] = await rowsOf('multi_subnet');
      expect(subnet).toEqual({
        id: subnet?.id,
        subnet_id: 'sub',
        subnet_name: 'storage',
        cidr: '10.0.0.0/24',
        network_id: 'net',
        status: 'active',
        created_at: '2026-01-09 06:23:29.000',
        modified_at: '2026-01-09 06:23:29.000',
        deleted_at: null,
        provider_id: 'biz-1',
        network_name: 'data',
      });
      expect(await rowsOf('node_table')).toMatchObject([
        { attached_node_id: 'server-n1', attached_node_name: 'n1', status: 'active' },
      ]);
      expect(await rowsOf('cr_state')).toMatchObject([
        { cr_name: 'osc', spec_hash: 'hash-1', last_updated: '2026-01-09 06:23:29.000' },
      ]);
    });

    it('rows are not written while observations are equal', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      const before = await everything();
      now = later;
      await store.record('biz-1', author, [n1], { sighting: observed() });
      expect(await everything()).toEqual(before);
    });

    it('a changed port status or subnet name updates the row in place', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      const records = await store.list();
      const ids = (await rowsOf('multi_interface')).map(({ id }) => id);
      now = later;
      await store.record('biz-1', author, [n1], {
        sighting: observed({ status: 'DOWN', name: 'backup' }),
      });
      expect(await store.list()).toEqual(records);
      const rows = await rowsOf('multi_interface');
      expect(rows.map(({ id }) => id)).toEqual(ids);
      expect(rows[0]).toMatchObject({
        port_status: 'DOWN',
        created_at: '2026-01-02 00:00:00.000',
        modified_at: '2026-02-01 00:00:00.000',
      });
      expect(await rowsOf('multi_subnet')).toMatchObject([
        {
          subnet_name: 'backup',
          created_at: '2026-01-09 06:23:29.000',
          modified_at: '2026-02-01 00:00:00.000',
        },
      ]);
      expect(await world.query('select * from change_log')).toHaveLength(2);
    });

    it('a changed port updates only its own row', async () => {
      await store.record('biz-1', author, [n1], { sighting: at('10.0.0.5') });
      const [, beside] = await rowsOf('multi_interface');
      expect(beside).toMatchObject({ created_at: '2026-01-09 06:23:29.000' });
      now = later;
      await store.record('biz-1', author, [n1], { sighting: at('10.0.0.6') });
      expect(await rowsOf('multi_interface')).toMatchObject([
        { addresses: '["10.0.0.6"]' },
        { ...beside },
      ]);
      await store.record('biz-1', author, [n1], { sighting: at('10.0.0.6', 'p0') });
      expect(await rowsOf('multi_interface')).toMatchObject([
        { netplan_success: 1 },
        { ...beside },
      ]);
    });

    it('a changed OpenstackConfig updates only its own content', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      await store.record('biz-1', other, [], { sighting: observed() });
      await store.record('biz-1', author, [n1], { sighting: observed({ specHash: 'hash-2' }) });
      const second = { cr_name: 'other', spec_hash: 'hash-1' };
      const rows = await rowsOf('cr_state');
      expect(rows).toMatchObject([{ cr_name: 'osc', spec_hash: 'hash-2' }, second]);
      await store.forget(author);
      expect(await rowsOf('cr_state')).toMatchObject([second]);
    });

    it('an unobserved network keeps its name', async () => {
      await store.record('biz-1', author, [n1], { sighting: named('storage', 'data') });
      await store.record('biz-1', author, [n1], { sighting: named('backup', '') });
      const names = { subnet_name: 'backup', network_name: 'data' };
      expect(await rowsOf('multi_subnet')).toMatchObject([names]);
    });

    it('unobserved rows stay', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      const none = { ports: new Map(), subnets: new Map(), specHash: '' };
      const changed = { ...n1, generation: 2, interfaces: [entry(0)] };
      await store.record('biz-1', author, [changed], { sighting: observed(none) });
      expect((await rowsOf('multi_interface'))[0]).toMatchObject({
        port_status: 'ACTIVE',
        addresses: '["10.0.0.5"]',
        created_at: '2026-01-02 00:00:00.000',
      });
      expect(await rowsOf('multi_subnet')).toMatchObject([{ subnet_name: 'storage' }]);
      expect(await rowsOf('cr_state')).toMatchObject([{ spec_hash: 'hash-1' }]);
    });

    it('missing objects are marked deleted, and the same row is reused when they return', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      now = later;
      const left = { ...n1, generation: 2, interfaces: [entry(0)] };
      await store.record('biz-1', author, [left], { sighting: observed() });
      const deleted = { status: 'deleted', deleted_at: '2026-02-01 00:00:00.000' };
      const active = { status: 'active', deleted_at: null };
      expect(await rowsOf('multi_interface')).toMatchObject([active, deleted]);
      expect(await rowsOf('multi_subnet')).toMatchObject([active]);
      await store.record('biz-1', author, []);
      for (const table of ['multi_interface', 'multi_subnet', 'node_table']) {
        for (const row of await rowsOf(table)) expect(row).toMatchObject(deleted);
      }
      await store.record('biz-1', author, [{ ...n1, generation: 3 }], { sighting: observed() });
      expect(await rowsOf('multi_interface')).toMatchObject([active, active]);
      expect(await rowsOf('multi_subnet')).toMatchObject([active]);
      expect(await rowsOf('node_table')).toMatchObject([active]);
    });

    it('rows marked deleted are removed after a year, and no other row', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      const n2 = node('n2', {
        instanceId: 'other',
        interfaces: [{ ...entry(2), subnetId: 'sub2' }],
      });
      await store.record('biz-1', other, [n2], { sighting: observed() });
      now = later;
      await store.record('biz-1', author, []);
      now = new Date(later.getTime() + 365 * 86_400_000 - 60_000);
      await store.record('biz-1', author, []);
      expect(await rowsOf('multi_interface')).toHaveLength(3);
      expect([await rowsOf('node_table'), await rowsOf('multi_subnet')]).toMatchObject([
        [{ status: 'deleted' }, { status: 'active' }],
        [{ status: 'deleted' }],
      ]);
      now = new Date(later.getTime() + 366 * 86_400_000);
      await store.record('biz-1', author, []);
      expect(await rowsOf('multi_interface')).toMatchObject([{ port_id: 'p2' }]);
      expect(await rowsOf('node_table')).toMatchObject([{ attached_node_name: 'n2' }]);
      expect(await rowsOf('multi_subnet')).toEqual([]);
    });

    it('a rebuilt server takes over the row with the same name', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      const again = node('n1', { instanceId: 'again', uid: 'again', interfaces: [nic(5)] });
      await store.record('biz-1', author, [again], { sighting: observed() });
      expect(await rowsOf('node_table')).toMatchObject([
        { attached_node_id: 'server-n1', attached_node_name: 'n1', status: 'deleted' },
        { attached_node_id: 'again', attached_node_name: 'n1', status: 'active' },
      ]);
    });

    it('a server keeps its row when its node is renamed', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      await store.record('biz-1', author, [{ ...n1, nodeName: 'n2', uid: 'n2' }], {
        sighting: observed(),
      });
      expect(await rowsOf('node_table')).toMatchObject([
        { attached_node_name: 'n2', status: 'active' },
      ]);
      const rows = await rowsOf('multi_interface');
      expect(rows.map((row) => `${String(row.attached_node_name)} ${String(row.status)}`)).toEqual([
        'n2 active',
        'n2 active',
      ]);
    });

    it('rows keep servers, ports and subnets with equal names and ids in two business clusters apart', async () => {
      for (const provider of ['biz-1', 'biz-2']) {
        await store.record(provider, author, [n1], { sighting: observed() });
      }
      await store.record('biz-1', author, []);
      for (const table of ['multi_interface', 'multi_subnet', 'node_table']) {
        const states = (await rowsOf(table)).map(
          (row) => `${String(row.provider_id)} ${String(row.status)}`,
        );
        expect(new Set(states)).toEqual(new Set(['biz-1 deleted', 'biz-2 active']));
      }
    });

    it("a port that moved to a different OpenstackConfig's node stays unchanged", async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      const taker = node('n2', { interfaces: [entry(0), entry(1)] });
      await store.record('biz-1', other, [taker], { sighting: observed() });
      await store.record('biz-1', author, []);
      const rows = await rowsOf('multi_interface');
      expect(rows.map((row) => `${String(row.cr_name)} ${String(row.status)}`)).toEqual([
        'other active',
        'other active',
      ]);
      expect(await rowsOf('multi_subnet')).toMatchObject([{ status: 'active' }]);
    });

    it('a subnet stays when many nodes move into the subnet in one observation', async () => {
      const nodes = Array.from({ length: 60 }, (_, n) =>
        node(`m${n}`, { interfaces: n === 0 ? [entry(0)] : [] }),
      );
      await store.record('biz-1', author, nodes, { sighting: observed() });
      const moved = nodes.map((one, n) => ({
        ...one,
        generation: 2,
        interfaces: n === 59 ? [entry(1)] : [],
      }));
      await store.record('biz-1', author, moved, { sighting: observed() });
      expect(await rowsOf('multi_subnet')).toMatchObject([{ status: 'active' }]);
    });

    it('rows from the legacy operator are replaced by new deliveries', async () => {
      await world.query(
        "insert into multi_interface (port_id, subnet_id, macaddress, cr_namespace, cr_name, netplan_success) values ('p0', 'sub', 'm', 'ns', 'osc', 1), ('p9', 'sub', 'm', 'ns', 'osc', 1)",
      );
      await store.record('biz-1', author, [n1], { sighting: observed() });
      const rows = await rowsOf('multi_interface');
      expect(rows.map((row) => `${String(row.port_id)} ${String(row.provider_id)}`)).toEqual([
        'p9 ',
        'p0 biz-1',
        'p1 biz-1',
      ]);
    });

    it('names may have any length and any characters, and do not cause repeated writes', async () => {
      const name = `\0\ud800${'ü🦊'.repeat(200_000)}`;
      const odd = observed({ name, status: 'X'.repeat(500) });
      await store.record('biz-1', author, [n1], { sighting: odd });
      const before = await everything();
      now = later;
      await store.record('biz-1', author, [n1], { sighting: odd });
      expect(await everything()).toEqual(before);
      const [subnet] = await rowsOf('multi_subnet');
      expect(Array.from(String(subnet?.subnet_name))).toHaveLength(255);
    });

    it('a port without a known time is stored', async () => {
      const port = { status: 'ACTIVE', addresses: [], createdAt: 'yesterday' };
      await store.record('biz-1', author, [n1], {
        sighting: observed({ ports: new Map([['p0', port]]) }),
      });
      expect((await rowsOf('multi_interface'))[0]).toMatchObject({
        created_at: '2026-01-09 06:23:29.000',
      });
    });

    it('forget an OpenstackConfig that is gone, with nodes or without', async () => {
      await store.record('biz-1', author, [], { sighting: observed() });
      await store.record('biz-1', other, [n1], { sighting: observed() });
      const names = async () => (await store.authors()).map(({ name }) => name);
      expect(await names()).toEqual(['osc', 'other']);
      await store.forget(author);
      expect(await names()).toEqual(['other']);
      await store.record('biz-1', other, []);
      await store.forget(other);
      expect(await names()).toEqual([]);
    });

    it('a record shows the observed ports', async () => {
      await store.record('biz-1', author, [n1], { sighting: observed() });
      await store.record('biz-2', author, [n1], { sighting: observed({ name: 'elsewhere' }) });
      const notes = await store.notesOf(await store.list());
      expect(notes.of('biz-1', 'P0')).toEqual({
        subnetName: 'storage',
        networkName: 'data',
        portStatus: 'ACTIVE',
        createdAt: '2026-01-02T00:00:00.000Z',
      });
      expect(notes.of('biz-2', 'p0').subnetName).toBe('elsewhere');
      expect([notes.of('biz-3', 'p0'), notes.of('biz-1', undefined)]).toEqual([{}, {}]);
    });

    it('counts have the NICs for each node in a business cluster', async () => {
      await store.record('biz-2', author, [node('n3', { interfaces: [] })], {
        sighting: observed(),
      });
      now = later;
      await store.record('biz-1', author, [node('n2'), n1], { sighting: observed() });
      const found = await store.providers();
      expect(found).toMatchObject([
        {
          providerId: 'biz-1',
          nodeCount: 2,
          updatedAt: '2026-02-01T00:00:00.000Z',
          nodes: [
            { nodeName: 'n1', instanceId: 'server-n1', interfaceCount: 2 },
            { nodeName: 'n2', interfaceCount: 1 },
          ],
        },
        { providerId: 'biz-2', nodes: [{ interfaceCount: 0 }] },
      ]);
      expect(await store.providers({ limit: 1, after: 'biz-1' })).toEqual([found[1]]);
      expect(await store.providers({ providers: ['biz-2'] })).toEqual([found[1]]);
      expect(await store.providers({ providers: [] })).toEqual([]);
    });
  });
}
