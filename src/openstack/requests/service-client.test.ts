import { describe, expect, test } from 'vitest';
import { answerOf, createFakeCaller } from '../../requests/fake-caller.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { Session } from '../keystone-session.ts';
import { createServiceClient, resourcePath } from './service-client.ts';

const signal = new AbortController().signal;

/** Fake Neutron that accepts only tokens in `good`; Keystone issues t0, t1, … */
function setUp(good: readonly string[]) {
  const caller = createFakeCaller((call) =>
    good.includes(call.headers?.['x-auth-token'] ?? '') ? answerOf(200, {}) : answerOf(401, {}),
  );
  const dropped: string[] = [];
  let logins = 0;
  let current: Session | undefined;
  const client = createServiceClient({
    service: 'neutron',
    caller,
    clock: createFakeClock(),
    keystone: {
      async session() {
        current ??= { token: `t${logins++}`, projectId: 'p', accounts: [], catalog: [] };
        return current;
      },
      drop(session) {
        dropped.push(session.token);
        if (current === session) current = undefined;
      },
      projectId: 'p',
      accounts: [],
    },
    base: () => 'http://neutron',
    headers: { 'x-version': '1' },
  });
  return { client, caller, dropped };
}

describe('createServiceClient', () => {
  test('read sends token, service headers and all query values', async () => {
    const { client, caller } = setUp(['t0']);
    const query = [
      ['device_id', 'a'],
      ['device_id', 'b&c'],
    ] as const;
    await client.read({ path: '/v2.0/ports', query }, signal);
    expect(caller.sent[0]?.url.href).toBe('http://neutron/v2.0/ports?device_id=a&device_id=b%26c');
    expect(caller.sent[0]?.headers).toEqual({ 'x-auth-token': 't0', 'x-version': '1' });
  });

  test('a read answered with 401 is repeated once with a new token', async () => {
    const { client, caller, dropped } = setUp(['t1']);
    expect((await client.read({ path: '/x' }, signal)).status).toBe(200);
    expect(dropped).toEqual(['t0']);
    expect(caller.calls).toBe(2);
  });

  test('a read answered with 401 twice throws unauthorized', async () => {
    const { client, caller } = setUp([]);
    await expect(client.read({ path: '/x' }, signal)).rejects.toMatchObject({
      kind: 'unauthorized',
    });
    expect(caller.calls).toBe(2);
  });
});

describe('resourcePath', () => {
  test('resourcePath escapes the id', () => {
    expect(resourcePath('/ports', '../subnets/x')).toBe('/ports/..%2Fsubnets%2Fx');
  });

  test.each(['', ' '])(
    'resourcePath throws for an empty id, which would read the collection',
    (id) => {
      expect(() => resourcePath('/ports', id)).toThrow(/empty id/);
    },
  );
});
