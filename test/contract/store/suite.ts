import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InterfaceSpec } from '../../../src/api/multinicnodeconfig.ts';
import type { RemovalBasis } from '../../../src/api/removals.ts';
import { specHash } from '../../../src/api/spec-hash.ts';
import type { StoredNode } from '../../../src/store/node-configs.ts';
import type { Store } from '../../../src/store/store.ts';

/** A database the store is opened on; empty before each test. */
export interface StoreUnderTest extends AsyncDisposable {
  open(now: () => Date): Promise<Store>;
  empty(): Promise<void>;
  /** Rows from a statement that bypasses the store. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
}

export const tables: readonly string[] = [
  'node_config',
  'change_log',
  'server_nics',
  'multi_interface',
  'multi_subnet',
  'node_table',
  'cr_state',
];

const author = { namespace: 'multinic-system', name: 'osc', generation: 3 };
const other = { ...author, name: 'other' };
const start = new Date('2026-01-09T06:23:29Z');

export function nic(n: number, change: Partial<InterfaceSpec> = {}): InterfaceSpec {
  const macAddress = `fa:16:3e:00:00:0${n}`;
  return { id: n, name: `multinic${n}`, portId: `p${n}`, macAddress, ...change };
}

export function node(name: string, change: Partial<StoredNode> = {}): StoredNode {
  const plain = { nodeName: name, instanceId: `server-${name}`, uid: `uid-${name}`, generation: 1 };
  return { ...plain, interfaces: [nic(0)], ...change };
}

/** Store behaviour for every database. */
export function storeContract(title: string, open: () => Promise<StoreUnderTest>): void {
  describe(title, () => {
    let world: StoreUnderTest;
    let store: Store;
    let now = start;

    beforeAll(async () => {
      world = await open();
      store = await world.open(() => now);
      // MariaDB creates tables at the first call.
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

    async function names(filter = {}): Promise<string[]> {
      const records = await store.list(filter);
      return records.map(({ providerId, nodeName }) => `${providerId}/${nodeName}`);
    }

    async function nicsOf(...ids: string[]) {
      const nodes = await store.nicsOf(ids);
      return nodes.map(({ instanceId, interfaces }) => [
        instanceId,
        interfaces.map((entry) => `${entry.name} ${entry.portId} ${entry.macAddress}`),
      ]);
    }

    async function changeLog() {
      return world.query('select * from change_log order by id');
    }

    describe('the records', () => {
      it('nodes equal the recorded state, with the config hash and the time of the change', async () => {
        await store.record('biz-1', author, [node('n1')]);
        const config = { nodeName: 'n1', instanceId: 'server-n1', interfaces: [nic(0)] };
        expect(await store.list()).toEqual([
          {
            providerId: 'biz-1',
            nodeName: 'n1',
            instanceId: 'server-n1',
            config,
            lastConfigHash: specHash(config),
            updatedAt: '2026-01-09T06:23:29.000Z',
          },
        ]);
      });

      it('nodes have a stable order and match all filters', async () => {
        await store.record('biz-2', author, [node('n1')]);
        await store.record('biz-1', author, [node('n2'), node('n1'), node('N1')]);
        expect(await names()).toEqual(['biz-1/N1', 'biz-1/n1', 'biz-1/n2', 'biz-2/n1']);
        expect(await names({ providerId: 'biz-1', nodeName: 'n1' })).toEqual(['biz-1/n1']);
        expect(await names({ instanceId: 'server-n1' })).toEqual(['biz-1/n1', 'biz-2/n1']);
        expect(await names({ providerId: 'biz-1', instanceId: 'server-x' })).toEqual([]);
      });

      it('pages have no gaps and no repeats', async () => {
        await store.record('biz-2', author, [node('n1')]);
        await store.record(
          'biz-1',
          author,
          ['n3', 'n1', 'n2'].map((name) => node(name)),
        );
        const first = await store.list({ limit: 2 });
        const second = await store.list({ limit: 2, after: first[1] });
        expect([...first, ...second].map(({ nodeName }) => nodeName)).toEqual([
          'n1',
          'n2',
          'n3',
          'n1',
        ]);
        expect(await store.list({ limit: 2, after: second[1] })).toEqual([]);
      });

      it('removed nodes disappear; nodes of foreign OpenstackConfigs and clusters stay', async () => {
        await store.record('biz-1', author, [node('n1'), node('n2')]);
        await store.record('biz-1', other, [node('n3')]);
        await store.record('biz-2', author, [node('n1')]);
        await store.record('biz-1', author, [node('n2')]);
        expect(await names()).toEqual(['biz-1/n2', 'biz-1/n3', 'biz-2/n1']);
      });

      it("a rebuilt server takes over the old server's name", async () => {
        await store.record('biz-1', author, [node('n1')]);
        await store.record('biz-1', author, [node('n1', { uid: 'again', instanceId: 'rebuilt' })]);
        expect(await store.list()).toMatchObject([{ nodeName: 'n1', instanceId: 'rebuilt' }]);
      });

      it('unreadable nodes stay unchanged, without a row in the change log', async () => {
        await store.record('biz-1', author, [node('n1'), node('n2'), node('n3')]);
        const before = await store.list({ nodeName: 'n1' });
        await store.record('biz-1', author, [node('n2')], { unknown: ['n1'] });
        expect(await names()).toEqual(['biz-1/n1', 'biz-1/n2']);
        expect(await store.list({ nodeName: 'n1' })).toEqual(before);
        const removed = (await changeLog()).filter(({ change }) => change === 'removed');
        expect(removed.map((row) => row.node_name)).toEqual(['n3']);
      });

      it('concurrent writes for many OpenstackConfigs are all stored', async () => {
        const authors = Array.from({ length: 8 }, (_, n) => ({ ...author, name: `osc-${n}` }));
        for (let generation = 1; generation <= 3; generation++) {
          const nodesOf = ({ name }: { name: string }) =>
            Array.from({ length: 30 }, (_, n) => node(`${name}-${n}`, { generation }));
          await Promise.all(authors.map((one) => store.record('biz-1', one, nodesOf(one))));
        }
        expect(await store.list()).toHaveLength(240);
        expect(await changeLog()).toHaveLength(240);
      });

      it('records change the owner when a second OpenstackConfig takes over the node', async () => {
        await store.record('biz-1', author, [node('n1')]);
        await store.record('biz-1', other, [node('n1', { uid: 'again' })]);
        await store.record('biz-1', author, []);
        expect(await names()).toEqual(['biz-1/n1']);
        expect(await store.nodesOf(other)).toEqual(new Map([['biz-1', ['n1']]]));
      });

      it('records keep the time while only the object around the config changed', async () => {
        await store.record('biz-1', author, [node('n1')]);
        now = new Date('2026-02-01T00:00:00Z');
        await store.record('biz-1', author, [node('n1', { generation: 2 })]);
        expect(await store.list()).toMatchObject([{ updatedAt: '2026-01-09T06:23:29.000Z' }]);
        await store.record('biz-1', author, [node('n1', { generation: 3, interfaces: [] })]);
        expect(await store.list()).toMatchObject([{ updatedAt: '2026-02-01T00:00:00.000Z' }]);
      });

      it('the store lists the clusters where an OpenstackConfig has nodes', async () => {
        await store.record('biz-1', author, [node('n1'), node('n2')]);
        await store.record('biz-2', author, [node('n3')]);
        expect(await store.nodesOf(author)).toEqual(
          new Map([
            ['biz-1', ['n1', 'n2']],
            ['biz-2', ['n3']],
          ]),
        );
        expect(await store.nodesOf(other)).toEqual(new Map());
        expect(await store.authors()).toEqual([{ namespace: 'multinic-system', name: 'osc' }]);
      });
    });

    describe('NICs of a server', () => {
      it('NICs come from the last delivery, under any node name', async () => {
        await store.record('biz-1', author, [node('n1', { interfaces: [nic(0), nic(1)] })]);
        await store.record('biz-1', author, [node('n1', { generation: 2, interfaces: [nic(1)] })]);
        expect(await nicsOf('server-n1')).toEqual([
          ['server-n1', ['multinic1 p1 fa:16:3e:00:00:01']],
        ]);
        await store.record('biz-1', author, [node('other', { instanceId: 'server-n1', uid: 'x' })]);
        expect(await nicsOf('server-n1', 'server-n2')).toEqual([
          ['server-n1', ['multinic0 p0 fa:16:3e:00:00:00']],
        ]);
      });

      it('NICs of a removed server are known for a year', async () => {
        await store.record('biz-1', author, [node('n1', { interfaces: [nic(3)] }), node('n2')]);
        await store.record('biz-1', author, []);
        expect(await nicsOf('server-n1')).toEqual([
          ['server-n1', ['multinic3 p3 fa:16:3e:00:00:03']],
        ]);
        now = new Date('2027-01-10T00:00:00Z');
        await store.record('biz-1', author, [node('n2', { generation: 2 })]);
        expect(await nicsOf('server-n1', 'server-n2')).toEqual([
          ['server-n2', ['multinic0 p0 fa:16:3e:00:00:00']],
        ]);
      });

      it('a node without known server contributes no NICs', async () => {
        await store.record('biz-1', author, [node('n1', { instanceId: '' })]);
        expect(await nicsOf('')).toEqual([]);
      });

      it('NICs are read for any number of servers', async () => {
        await store.record('biz-1', author, [node('n1'), node('n2')]);
        const many = Array.from({ length: 600 }, (_, n) => `unknown-${n}`);
        const found = await nicsOf('server-n1', ...many, 'server-n2', ...many);
        expect(found.map(([id]) => id)).toEqual(['server-n1', 'server-n2']);
        expect(await nicsOf()).toEqual([]);
      });
    });

    describe('the change log', () => {
      it('the log has the newest hundred thousand rows', async () => {
        await store.record('biz-1', author, [node('n1'), node('n2')]);
        const [oldest] = await changeLog();
        const copied =
          'at, provider_id, node_name, instance_id, `change`, name, port_id, mac_address, before_entry, after_entry, cr_namespace, cr_name, cr_generation';
        const newest = Number(oldest?.id) + 100_000;
        await world.query(
          `insert into change_log (id, ${copied}) select ${newest}, ${copied} from change_log limit 1`,
        );
        await store.record('biz-1', author, [node('n1', { generation: 2 }), node('n2')]);
        const kept = await changeLog();
        expect(kept.map(({ id }) => Number(id))).toEqual([Number(oldest?.id) + 1, newest]);
      });

      it('the log has a row for every added, changed or removed NIC, with the requester', async () => {
        await store.record('biz-1', author, [node('n1', { interfaces: [nic(0), nic(1)] })]);
        const changed = nic(0, { mtu: 9000 });
        await store.record('biz-1', author, [node('n1', { generation: 2, interfaces: [changed] })]);
        await store.record('biz-1', author, []);
        const rows = await changeLog();
        expect(rows.map(({ change, name }) => `${String(change)} ${String(name)}`)).toEqual([
          'added multinic0',
          'added multinic1',
          'changed multinic0',
          'removed multinic1',
          'removed multinic0',
        ]);
        expect(rows[2]).toMatchObject({
          at: '2026-01-09T06:23:29.000Z',
          provider_id: 'biz-1',
          node_name: 'n1',
          instance_id: 'server-n1',
          port_id: 'p0',
          mac_address: 'fa:16:3e:00:00:00',
          before_entry: JSON.stringify(nic(0)),
          after_entry: JSON.stringify(changed),
          cr_namespace: 'multinic-system',
          cr_name: 'osc',
          cr_generation: 3,
        });
      });

      it('the log names the evidence for removed NICs, and none for other changes or unknown evidence', async () => {
        const basesOf = (...all: RemovalBasis[]) =>
          new Map(all.map((basis, n) => [nic(n).macAddress, basis]));
        const bases = new Map([
          ['n1', basesOf('evidence', 'evidence')],
          ['n2', basesOf('named')],
          ['n3', basesOf('consent')],
        ]);
        const n1 = node('n1', {
          interfaces: [nic(0), nic(1, { macAddress: 'FA:16:3E:00:00:01' })],
        });
        const n2 = node('n2', { interfaces: [nic(0), nic(1)] });
        await store.record('biz-1', author, [n1, n2, node('n3')], { bases });
        const left = { ...n1, generation: 2, interfaces: [nic(0, { mtu: 9000 })] };
        await store.record('biz-1', author, [left, node('n3')], { bases });
        await store.add('biz-1', author, [], ['n3'], bases);
        const found = (await store.changes({ limit: 5 })).map(({ change }) => change);
        expect(
          found.map(({ change, nodeName, name, basis }) => [change, nodeName, name, basis]),
        ).toEqual([
          ['removed', 'n3', 'multinic0', 'consent'],
          ['removed', 'n2', 'multinic1', undefined],
          ['removed', 'n2', 'multinic0', 'named'],
          ['removed', 'n1', 'multinic1', 'evidence'],
          ['changed', 'n1', 'multinic0', undefined],
        ]);
      });

      it('the log names a NIC with a port replaced by a port with this MAC', async () => {
        const [before, after] = [nic(0), nic(0, { portId: 'other' })];
        await store.record('biz-1', author, [node('n1', { interfaces: [before] })]);
        await store.record('biz-1', author, [node('n1', { generation: 2, interfaces: [after] })]);
        const rows = await changeLog();
        expect(rows.map(({ change, port_id }) => [change, port_id])).toEqual([
          ['added', 'p0'],
          ['port-replaced', 'other'],
        ]);
      });

      it('the log has no row without a change', async () => {
        await store.record('biz-1', author, [node('n1')]);
        await store.record('biz-1', author, [node('n1')]);
        await store.record('biz-1', author, [node('n1', { generation: 2 })]);
        expect(await changeLog()).toHaveLength(1);
      });
    });

    it('a reopened store has its rows and runs no migration twice', async () => {
      await store.record('biz-1', author, [node('n1')]);
      const again = await world.open(() => now);
      const records = await again.list();
      await again[Symbol.asyncDispose]();
      expect(records).toHaveLength(1);
      expect(await world.query('select name from migrations order by name')).toEqual([
        { name: '0001-node-config' },
        { name: '0002-change-log' },
        { name: '0003-server-nics' },
        { name: '0004-deployed-tables' },
        { name: '0005-removal-basis' },
      ]);
    });

    it('deliveries add and remove nodes, and lookups return the delivering OpenstackConfig', async () => {
      await store.record('biz-1', author, [node('n1')]);
      await store.record('biz-1', other, [node('n2')]);
      await store.record('biz-2', author, [node('n1')]);
      await store.add('biz-1', author, [node('n3'), node('n1', { generation: 2 })]);
      const found = async (filter: object) => {
        const records = await store.deliveries({ providerId: 'biz-1', ...filter });
        return records.map((one) => `${one.nodeName} ${one.generation} ${one.author.name}`);
      };
      expect(await found({ author })).toEqual(['n1 2 osc', 'n3 1 osc']);
      expect(await found({ author, instanceIds: ['server-n2'] })).toHaveLength(3);
      expect(await found({ nodeNames: ['n2', 'n9'] })).toEqual(['n2 1 other']);
      expect(await found({})).toEqual([]);
      await store.add('biz-1', author, [node('n4')], ['n1', 'n2', 'n9']);
      expect(await found({ author })).toEqual(['n3 1 osc', 'n4 1 osc']);
      expect(await found({ nodeNames: ['n2'] })).toEqual(['n2 1 other']);
      expect(await nicsOf('server-n1')).toHaveLength(1);
    });

    it('lookups return the NICs of a server before the node is recorded', async () => {
      const { nodeName, instanceId, interfaces } = node('n1', { interfaces: [nic(3)] });
      await store.reserve([{ nodeName, instanceId, interfaces }]);
      expect(await nicsOf('server-n1')).toEqual([
        ['server-n1', ['multinic3 p3 fa:16:3e:00:00:03']],
      ]);
      expect(await store.list()).toEqual([]);
    });

    it('the store accepts the longest names and a node with many routes', async () => {
      const long = 'n'.repeat(253);
      const routes = Array.from({ length: 64 }, () => ({
        to: '10.0.0.0/8',
        via: '10.255.255.254',
      }));
      const interfaces = Array.from({ length: 64 }, (_, n) =>
        nic(n % 10, { portId: `p${n}`, routes }),
      );
      await store.record('p'.repeat(253), author, [
        node(long, { instanceId: 'i'.repeat(64), uid: 'u'.repeat(64), interfaces }),
      ]);
      const [record] = await store.list({ nodeName: long });
      expect(record?.config.interfaces).toHaveLength(64);
    });
  });
}
