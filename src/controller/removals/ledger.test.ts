import { describe, expect, it } from 'vitest';
import { mergePatch } from '../../../rig/apiserver/verbs/merge-patch.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { ConfigMap } from '../../kube/core-resources.ts';
import { KubeError } from '../../kube/errors.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createRemovalLedger, type RemovalLedgerOptions } from './ledger.ts';
import type { LedgerEntry } from './ledger-buckets.ts';

const hourMs = 3_600_000;
const { signal } = new AbortController();

const perform: RemovalLedgerOptions['perform'] = (_, write) => write();

/** The ledger's ConfigMap on an API server, with the server's limit for its size. */
class LedgerServer {
  readonly clock = createFakeClock();
  /** Times of successful writes, in milliseconds. */
  readonly writes: number[] = [];
  reads = 0;
  data: Record<string, string> | undefined;

  readonly #client: RemovalLedgerOptions['client'] = {
    find: (async () => {
      this.reads += 1;
      return this.data && { metadata: {}, data: this.data };
    }) as KubeClient['find'],
    create: (async (_, { data = {} }: ConfigMap) => this.#write(data)) as KubeClient['create'],
    patch: (async (_, __, patch: { readonly data: Record<string, string | null> }) => {
      if (this.data) return this.#write(mergePatch(this.data, patch.data) as typeof this.data);
      throw new KubeError({ status: 404, reason: 'NotFound', message: 'not found' });
    }) as KubeClient['patch'],
  };

  /** Returns the ledger of another controller process. */
  start() {
    const options = { client: this.#client, namespace: 'multinic-system', perform };
    return createRemovalLedger({ ...options, clock: this.clock });
  }

  /** Stores the entries as objects in deletion do: each asks again after its wait. Returns the seconds taken. */
  async storeAll(entries: readonly LedgerEntry[], ledger = this.start()): Promise<number> {
    const begin = this.clock.monotonicMs();
    let open = entries;
    while (open.length > 0) {
      if (this.clock.monotonicMs() > begin + hourMs) throw new Error(`${open.length} objects wait`);
      const waits = await Promise.all(open.map((entry) => ledger.store([entry], signal)));
      open = open.filter((_, n) => waits[n] !== undefined);
      if (open.length > 0) await this.clock.advance(Math.min(...waits.map((ms) => ms ?? hourMs)));
    }
    return (this.clock.monotonicMs() - begin) / 1_000;
  }

  /** Returns the shortest time between two writes, in milliseconds. */
  shortestPause(): number {
    return Math.min(...this.writes.slice(1).map((at, n) => at - (this.writes[n] ?? 0)));
  }

  size(): number {
    return Object.entries(this.data ?? {}).join('').length;
  }

  async #write(data: Record<string, string>) {
    const message = 'data: Too long: may not be more than 1048576 bytes';
    const before = this.data;
    this.data = data;
    if (this.size() > 1024 * 1024) {
      this.data = before;
      throw new KubeError({ status: 422, reason: 'Invalid', message });
    }
    this.writes.push(this.clock.monotonicMs());
    return {};
  }
}

function entriesOf(objects: number, nics: number): LedgerEntry[] {
  return Array.from({ length: objects }, (_, n) => ({
    uid: `00000000-1111-4222-8333-${String(n).padStart(12, '0')}`,
    node: `node-${n}`,
    config: '00000000-1111-4222-8333-999999999999',
    macs: Array.from(
      { length: nics },
      (__, nic) => `fa:16:3e:${n.toString(16).padStart(4, '0')}:${nic}`,
    ),
  }));
}

describe('the ledger of removals', () => {
  it.each([
    { objects: 1, nics: 1, isFull: false },
    { objects: 2_000, nics: 3, isFull: false },
    { objects: 10_000, nics: 3, isFull: true },
    { objects: 10_000, nics: 20, isFull: true },
  ])('$objects deletions with $nics NICs need 2 writes, 1 a second', async (row) => {
    const server = new LedgerServer();
    const entries = entriesOf(row.objects, row.nics);
    expect(await server.storeAll(entries)).toBeLessThanOrEqual(1);
    expect(server.writes.length).toBeLessThanOrEqual(2);
    expect(server.shortestPause()).toBeGreaterThanOrEqual(1_000);
    expect(server.reads).toBe(1);
    const state = await server.start().read(signal);
    const why =
      'ConfigMap multinic-system/multinic-removals has no room for all removals of the last hour';
    expect(state).toEqual(row.isFull ? { kind: 'unknown', why } : { kind: 'read', entries });
  });

  it('deletions at any pace need at most 1 write a second', async () => {
    const server = new LedgerServer();
    const ledger = server.start();
    const entries = entriesOf(600, 2);
    for (let n = 0; n < entries.length; n += 5) {
      await Promise.all(entries.slice(0, n).map((entry) => ledger.store([entry], signal)));
      await server.clock.advance(130);
    }
    await server.storeAll(entries, ledger);
    expect(server.shortestPause()).toBeGreaterThanOrEqual(1_000);
    expect(await ledger.read(signal)).toMatchObject({ kind: 'read' });
    expect(new Set(ledger.entries())).toEqual(new Set(entries));
  });

  it('the ledger has room again an hour after it was full', async () => {
    const server = new LedgerServer();
    const ledger = server.start();
    await server.storeAll(entriesOf(10_000, 20), ledger);
    const [entry] = entriesOf(1, 1);
    if (!entry) throw new Error('no entry');
    const later = { ...entry, uid: 'later' };
    await server.clock.advance(2 * hourMs);
    await server.storeAll([later], ledger);
    expect(await ledger.read(signal)).toEqual({ kind: 'read', entries: [later] });
    expect(server.size()).toBeLessThan(1_000);
  });

  it('an entry is written once, also by the next process', async () => {
    const server = new LedgerServer();
    const entries = entriesOf(3, 2);
    await server.storeAll(entries);
    const writes = server.writes.length;
    await server.clock.advance(5_000);
    await server.storeAll(entries);
    await server.storeAll(entriesOf(3, 1));
    expect(server.writes).toHaveLength(writes);
    await server.storeAll(entriesOf(3, 3));
    expect(server.writes.length).toBeGreaterThan(writes);
  });
});
