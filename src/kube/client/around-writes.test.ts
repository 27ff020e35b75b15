import { expect, it } from 'vitest';
import { leases } from '../core-resources.ts';
import { aroundWrites } from './around-writes.ts';
import type { KubeClient } from './client.ts';

it('aroundWrites wraps writes and leaves reads unchanged', async () => {
  const calls: string[] = [];
  class Client {
    readonly #name = 'lease';
    async find() {
      calls.push('find');
      return undefined;
    }
    async create() {
      calls.push(`create ${this.#name}`);
      return {};
    }
  }
  const client = aroundWrites(new Client() as unknown as KubeClient, async (write) => {
    calls.push('before');
    const result = await write();
    calls.push('after');
    return result;
  });
  await client.find(leases, { name: 'x' });
  await client.create(leases, { metadata: { name: 'x' } });
  expect(calls).toEqual(['find', 'before', 'create lease', 'after']);
});
