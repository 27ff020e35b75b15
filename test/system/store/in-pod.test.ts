import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { runScript } from '../../../rig/hosts/box/script.ts';

const store = pathToFileURL(join(import.meta.dirname, '../../../src/store/store.ts')).href;

/** As in the operator's Pod: SQLite can write none of the folders for temporary files. */
const inPod = `
set -e
data=$1; volume=$2; shift 2
mount $volume "$data"
for place in /tmp /var/tmp /usr/tmp; do
  [ -d "$place" ] || continue
  mount --rbind "$place" "$place"
  mount -o remount,bind,ro "$place"
done
cd /tmp
if touch . 2>/dev/null; then echo "there is a place for temporary files" >&2; exit 1; fi
exec "$@"`;

/** Writes a cluster with 300 nodes and 10 NICs per node three times, then reads all rows. */
const program = `
const { Store } = await import(process.argv[1]);
const nicsOf = (node, generation) =>
  Array.from({ length: 10 }, (_, id) => ({
    id,
    portId: 'port-' + id + '-of-' + node + '-'.repeat(200),
    macAddress: 'fa:16:3e:00:00:0' + id,
    mtu: 1500 + generation,
  }));
const nodesOf = (generation) =>
  Array.from({ length: 300 }, (_, n) => ({
    nodeName: 'node-' + n,
    instanceId: 'server-' + n,
    uid: 'uid-' + n,
    generation,
    interfaces: nicsOf(n, generation),
  }));
const author = { namespace: 'multinic-system', name: 'osc', generation: 1 };
await using store = await Store.open({ kind: 'sqlite', path: process.argv[2] }, { now: () => new Date(0) });
for (const generation of [1, 2, 3]) await store.record('biz-1', author, nodesOf(generation));
console.log((await store.list()).length, (await store.list({ providers: ['biz-1'] })).length);
`;

/** Output of the program with the file on a volume mounted with these options. */
async function record(volume: string): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'store-in-pod-'));
  try {
    const node = [process.execPath, '--input-type=module', '--eval', program, '--'];
    const words = ['bash', '-c', inPod, 'bash', data, volume, ...node];
    const isolated = ['--user', '--map-root-user', '--mount', ...words];
    return await runScript('unshare', [...isolated, store, join(data, 'inventory.db')]);
  } finally {
    await rm(data, { recursive: true });
  }
}

it('SQLite needs no folder for temporary files, as a Pod with a read-only root has none', async () => {
  expect(await record('-t tmpfs -o size=64m none')).toBe('300 300\n');
});

it('a full volume is reported as such', async () => {
  await expect(record('-t tmpfs -o size=1m none')).rejects.toThrow('database or disk is full');
});
