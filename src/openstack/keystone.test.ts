import { describe, expect, test } from 'vitest';
import { answerOf, createFakeCaller } from '../requests/fake-caller.ts';
import type { HttpAnswer } from '../requests/transport.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import type { CloudIdentity } from './cloud-identity.ts';
import { createKeystone } from './keystone.ts';

const signal = new AbortController().signal;
const identity: CloudIdentity = {
  keystoneUrl: 'http://keystone:5000',
  username: 'admin',
  password: 'hidden',
  domainName: 'Default',
  projectId: 'p1',
  interface: 'public',
  tls: {},
  timeoutMs: 10_000,
};
// Keystone's clock is a day ahead of ours.
const issued = Date.parse('2026-01-02T00:00:00Z');

function tokenAnswer(token: string, lifetimeMs: number): HttpAnswer {
  const body = {
    token: {
      issued_at: new Date(issued).toISOString().replace('Z', '000Z'),
      expires_at: new Date(issued + lifetimeMs).toISOString().replace('Z', '000Z'),
      catalog: [],
    },
  };
  return answerOf(201, body, { 'x-subject-token': token });
}

function setUp(lifetimeMs = 3_600_000) {
  const clock = createFakeClock();
  const caller = createFakeCaller((_, index) => tokenAnswer(`token-${index}`, lifetimeMs));
  return { clock, caller, keystone: createKeystone({ identity, caller, clock, lifetime: signal }) };
}

describe('createKeystone', () => {
  test('logs in by password, scoped to the project by id', async () => {
    const { keystone, caller } = setUp();
    await keystone.session(signal);
    expect(caller.sent[0]?.url.href).toBe('http://keystone:5000/v3/auth/tokens');
    expect(JSON.parse(caller.sent[0]?.body ?? '')).toEqual({
      auth: {
        identity: {
          methods: ['password'],
          password: { user: { name: 'admin', domain: { name: 'Default' }, password: 'hidden' } },
        },
        scope: { project: { id: 'p1' } },
      },
    });
  });

  test('keeps a token until five minutes before its end, by its length and not by the wall clock', async () => {
    const { keystone, caller, clock } = setUp();
    await keystone.session(signal);
    await clock.advance(3_600_000 - 300_001);
    expect((await keystone.session(signal)).token).toBe('token-0');
    await clock.advance(1);
    expect((await keystone.session(signal)).token).toBe('token-1');
    expect(caller.calls).toBe(2);
  });

  test('keeps a token of a minute for four fifths of it', async () => {
    const { keystone, clock } = setUp(60_000);
    await keystone.session(signal);
    await clock.advance(47_999);
    expect((await keystone.session(signal)).token).toBe('token-0');
    await clock.advance(1);
    expect((await keystone.session(signal)).token).toBe('token-1');
  });

  test('everybody shares one login', async () => {
    const { keystone, caller } = setUp();
    const sessions = await Promise.all([1, 2, 3].map(async () => keystone.session(signal)));
    expect(new Set(sessions).size).toBe(1);
    expect(caller.calls).toBe(1);
  });

  test('dropping a session twice drops it once', async () => {
    const { keystone, caller } = setUp();
    const refused = await keystone.session(signal);
    keystone.drop(refused);
    const renewed = await keystone.session(signal);
    keystone.drop(refused);
    expect(await keystone.session(signal)).toBe(renewed);
    expect(caller.calls).toBe(2);
  });

  test('a refused login says who was refused and tells its owner', async () => {
    let refusals = 0;
    const caller = createFakeCaller(() => answerOf(401, { error: { message: 'no' } }));
    const onRefused = (): void => {
      refusals += 1;
    };
    const clock = createFakeClock();
    const keystone = createKeystone({ identity, caller, clock, lifetime: signal, onRefused });
    await expect(keystone.session(signal)).rejects.toMatchObject({
      kind: 'badCredential',
      message: 'keystone: user "admin" of domain "Default" was refused for project "p1"',
    });
    expect(refusals).toBe(1);
  });

  test.each([
    [
      'without a token header',
      answerOf(201, {
        token: {
          issued_at: '2026-01-01T00:00:00Z',
          expires_at: '2026-01-01T01:00:00Z',
          catalog: [],
        },
      }),
      /no X-Subject-Token/,
    ],
    [
      'without an end',
      answerOf(201, { token: { issued_at: '2026-01-01T00:00:00Z', catalog: [] } }),
      /expires_at/,
    ],
    ['of another kind', answerOf(200, {}), /answered 200/],
  ])('an answer %s is an error', async (_, answer, message) => {
    const caller = createFakeCaller(() => answer);
    const keystone = createKeystone({
      identity,
      caller,
      clock: createFakeClock(),
      lifetime: signal,
    });
    await expect(keystone.session(signal)).rejects.toThrow(message);
  });
});
