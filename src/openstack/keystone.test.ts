import { describe, expect, test } from 'vitest';
import { answerOf, createFakeCaller } from '../requests/fake-caller.ts';
import type { HttpAnswer } from '../requests/transport.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { type CloudIdentity, passwordAuth } from './cloud-identity.ts';
import { CredentialGate } from './credential-gate.ts';
import { createKeystone } from './keystone.ts';
import { RefreshTurns } from './refresh-turns.ts';

const signal = new AbortController().signal;
const account = {
  username: 'admin',
  password: 'hidden',
  domainName: 'Default',
  projectId: 'p1',
};
const identity: CloudIdentity = {
  keystoneUrl: 'http://keystone:5000',
  auth: passwordAuth(account),
  interface: 'public',
  tls: {},
  timeoutMs: 10_000,
};
// Keystone's clock is one day ahead.
const issued = Date.parse('2026-01-02T00:00:00Z');

function tokenAnswer(token: string, lifetimeMs: number): HttpAnswer {
  const body = {
    token: {
      project: { id: 'P1' },
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
  return {
    clock,
    caller,
    keystone: createKeystone({
      identity,
      caller,
      clock,
      lifetime: signal,
      gate: new CredentialGate(clock),
      turns: new RefreshTurns(clock),
    }),
  };
}

interface LoginScope {
  readonly scope: 'unscoped' | { readonly project: { readonly id: string } };
}

/** Fake Keystone whose login status comes from `statusOf`. */
function setUpRefusals(statusOf: (login: LoginScope) => 201 | 401) {
  const clock = createFakeClock();
  const caller = createFakeCaller(({ body = '' }) => {
    const { auth } = JSON.parse(body) as { auth: LoginScope };
    return statusOf(auth) === 201 ? tokenAnswer('token', 3_600_000) : answerOf(401, {});
  });
  return { clock, caller, gate: new CredentialGate(clock), turns: new RefreshTurns(clock) };
}

describe('createKeystone', () => {
  test('session logs in by password, scoped to the project by id', async () => {
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

  test('a token is used for nine tenths of its lifetime, independent from the wall clock', async () => {
    const { keystone, caller, clock } = setUp();
    await keystone.session(signal);
    await clock.advance(3_600_000 * 0.9 - 1);
    expect((await keystone.session(signal)).token).toBe('token-0');
    await clock.advance(1);
    expect((await keystone.session(signal)).token).toBe('token-1');
    expect(caller.calls).toBe(2);
  });

  test("a token's lifetime counts from the request, because the answer may be slow", async () => {
    const clock = createFakeClock();
    const caller = createFakeCaller(async (_, index) => {
      await clock.sleep(60_000);
      return tokenAnswer(`token-${index}`, 3_600_000);
    });
    const { gate, turns } = { gate: new CredentialGate(clock), turns: new RefreshTurns(clock) };
    const keystone = createKeystone({ identity, caller, clock, lifetime: signal, gate, turns });
    const first = keystone.session(signal);
    await clock.advance(3_600_000 * 0.9);
    await first;
    void keystone.session(signal);
    await clock.advance(0);
    expect(caller.calls).toBe(2);
  });

  test('a one-minute token is used for 54 seconds', async () => {
    const { keystone, clock } = setUp(60_000);
    await keystone.session(signal);
    await clock.advance(53_999);
    expect((await keystone.session(signal)).token).toBe('token-0');
    await clock.advance(1);
    expect((await keystone.session(signal)).token).toBe('token-1');
  });

  test('concurrent callers share a single login', async () => {
    const { keystone, caller } = setUp();
    const sessions = await Promise.all([1, 2, 3].map(async () => keystone.session(signal)));
    expect(new Set(sessions).size).toBe(1);
    expect(caller.calls).toBe(1);
  });

  test('dropping a session twice keeps the newer session', async () => {
    const { keystone, caller } = setUp();
    const refused = await keystone.session(signal);
    keystone.drop(refused);
    const renewed = await keystone.session(signal);
    keystone.drop(refused);
    expect(await keystone.session(signal)).toBe(renewed);
    expect(caller.calls).toBe(2);
  });

  test('a project without a role is distinguished from a wrong password and does not block other projects', async () => {
    const { caller, gate, turns, clock } = setUpRefusals(({ scope }) =>
      scope === 'unscoped' || scope.project.id === 'good' ? 201 : 401,
    );
    const [wrong, good] = ['wrong', 'good'].map((projectId) =>
      createKeystone({
        identity: { ...identity, auth: passwordAuth({ ...account, projectId }) },
        caller,
        clock,
        gate,
        turns,
        lifetime: signal,
      }),
    );
    const outcomes = await Promise.allSettled([wrong?.session(signal), good?.session(signal)]);
    expect(outcomes).toMatchObject([
      {
        status: 'rejected',
        reason: {
          kind: 'badCredential',
          message:
            'keystone: user "admin" of domain "Default" has no role in project "wrong", or the project does not exist',
        },
      },
      { status: 'fulfilled' },
    ]);
  });

  test('a wrong password is tried twice per hour, however many projects log in with this account', async () => {
    const { caller, gate, turns, clock } = setUpRefusals(() => 401);
    const keystones = Array.from({ length: 5 }, (_, n) =>
      createKeystone({
        identity: { ...identity, auth: passwordAuth({ ...account, projectId: `p${n}` }) },
        caller,
        clock,
        gate,
        turns,
        lifetime: signal,
      }),
    );
    const logInAll = async () =>
      Promise.allSettled(keystones.map(async (keystone) => keystone.session(signal)));
    for (let minute = 0; minute < 59; minute++) {
      const outcomes = await logInAll();
      expect(outcomes.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
      await clock.advance(60_000);
    }
    expect(caller.calls).toBe(2);
    await clock.advance(60_000);
    await logInAll();
    expect(caller.calls).toBe(4);
  });

  describe('application credential', () => {
    const auth = {
      kind: 'applicationCredential',
      credential: { id: 'c1' },
      secret: 'hidden',
    } as const;

    function setUpCredential(answer: () => HttpAnswer) {
      const clock = createFakeClock();
      const caller = createFakeCaller(answer);
      const [gate, turns] = [new CredentialGate(clock), new RefreshTurns(clock)];
      const own = { ...identity, auth };
      const keystone = createKeystone({
        identity: own,
        caller,
        clock,
        gate,
        turns,
        lifetime: signal,
      });
      return { keystone, caller, clock };
    }

    test('an application credential logs in without scope and takes its project from the answer', async () => {
      const { keystone, caller } = setUpCredential(() => tokenAnswer('token', 3_600_000));
      expect(keystone.projectId).toBeUndefined();
      await keystone.session(signal);
      expect(JSON.parse(caller.sent[0]?.body ?? '')).toEqual({
        auth: {
          identity: {
            methods: ['application_credential'],
            application_credential: { id: 'c1', secret: 'hidden' },
          },
        },
      });
      expect(keystone.projectId).toBe('p1');
    });

    const unknown = { code: 404, message: 'Could not find Application Credential: c1.' };
    test.each([
      ['has a wrong secret', answerOf(401, {})],
      ['is unknown to Keystone', answerOf(404, { error: unknown })],
    ])('an application credential that %s is tried once per hour', async (_, answer) => {
      const { keystone, caller, clock } = setUpCredential(() => answer);
      for (let minute = 0; minute < 60; minute++) {
        await expect(keystone.session(signal)).rejects.toMatchObject({
          kind: 'badCredential',
          message: expect.stringMatching(
            /^keystone: application credential "c1" was refused/,
          ) as unknown,
        });
        await clock.advance(60_000);
      }
      expect(caller.calls).toBe(1);
      await expect(keystone.session(signal)).rejects.toThrow('was refused');
      expect(caller.calls).toBe(2);
    });

    test.each([
      ['a page of a proxy', { ...answerOf(404, {}), text: '<html>no such page</html>' }],
      ['another 404', answerOf(404, { error: { code: 404, message: '/v3 is not here' } })],
    ])('an application credential does not count as refused after %s', async (_, answer) => {
      let answers = [answer];
      const { keystone, caller } = setUpCredential(
        () => answers.shift() ?? tokenAnswer('token', 3_600_000),
      );
      await expect(keystone.session(signal)).rejects.toMatchObject({ kind: 'notFound' });
      await keystone.session(signal);
      answers = [];
      expect(caller.calls).toBe(2);
    });
  });

  test('each new login request retries a refused password at once', async () => {
    const { caller, gate, turns, clock } = setUpRefusals(() => 401);
    const keystone = createKeystone({ identity, caller, clock, gate, turns, lifetime: signal });
    gate.requestLogin('first');
    for (const loginRequest of ['first', '', 'second', 'second']) {
      await clock.advance(60_000);
      gate.requestLogin(loginRequest);
      await expect(keystone.session(signal)).rejects.toMatchObject({ kind: 'badCredential' });
    }
    expect(caller.calls).toBe(4);
  });

  test('a login request served by a cached token does not delay the next request after a refusal', async () => {
    let status: 201 | 401 = 201;
    const { caller, gate, turns, clock } = setUpRefusals(() => status);
    const keystone = createKeystone({ identity, caller, clock, gate, turns, lifetime: signal });
    await keystone.session(signal);
    gate.requestLogin('n/osc noon');
    keystone.drop(await keystone.session(signal));
    status = 401;
    for (const loginRequest of ['', 'n/osc one']) {
      gate.requestLogin(loginRequest);
      await expect(keystone.session(signal)).rejects.toMatchObject({ kind: 'badCredential' });
    }
    expect(caller.calls).toBe(5);
  });

  test('a login request renews a token older than 10 s, because services cache token validation', async () => {
    const clock = createFakeClock();
    const caller = createFakeCaller((_, index) => tokenAnswer(`token-${index}`, 3_600_000));
    const [gate, turns] = [new CredentialGate(clock), new RefreshTurns(clock)];
    const keystone = createKeystone({ identity, caller, clock, lifetime: signal, gate, turns });
    const tokenAfter = async (ms: number, loginRequest: string): Promise<string> => {
      await clock.advance(ms);
      gate.requestLogin(loginRequest);
      return (await keystone.session(signal)).token;
    };
    expect(await tokenAfter(0, 'before the first')).toBe('token-0');
    expect(await tokenAfter(9_999, 'too soon')).toBe('token-0');
    expect(await tokenAfter(1, 'at last')).toBe('token-1');
    expect(await tokenAfter(60_000, 'at last')).toBe('token-1');
    expect(await tokenAfter(60_000, '')).toBe('token-1');
    expect(await tokenAfter(0, 'again')).toBe('token-2');
    expect(caller.calls).toBe(3);
  });

  test('a refused login names the account and calls onRefused', async () => {
    let refusals = 0;
    const caller = createFakeCaller(() => answerOf(401, { error: { message: 'no' } }));
    const onRefused = (): void => {
      refusals += 1;
    };
    const clock = createFakeClock();
    const keystone = createKeystone({
      identity,
      caller,
      clock,
      lifetime: signal,
      gate: new CredentialGate(clock),
      turns: new RefreshTurns(clock),
      onRefused,
    });
    await expect(keystone.session(signal)).rejects.toMatchObject({
      kind: 'badCredential',
      message:
        'keystone: user "admin" of domain "Default" was refused for project "p1" (Keystone: no)',
    });
    expect(refusals).toBe(1);
    // The second login is stopped by the gate, yet onRefused runs: the owner may have a newer password.
    await expect(keystone.session(signal)).rejects.toMatchObject({ kind: 'badCredential' });
    expect(refusals).toBe(2);
    expect(caller.calls).toBe(2);
  });

  test.each([
    answerOf(300, {}),
    answerOf(400, {}),
    answerOf(403, {}),
    { status: 404, headers: {}, text: '<h1>Not Found</h1>' },
    answerOf(404, { error: { code: 404, message: 'no such route' } }),
    answerOf(413, {}),
    answerOf(429, {}),
    { status: 503, headers: {}, text: '<h1>application credential</h1>' },
  ])(
    'answer $status $text does not count as refused credential: the next login is tried',
    async (answer) => {
      const { gate, turns, clock } = setUpRefusals(() => 201);
      const caller = createFakeCaller((_, index) =>
        index === 0 ? answer : tokenAnswer('t', 60_000),
      );
      const keystone = createKeystone({ identity, caller, clock, lifetime: signal, gate, turns });
      await expect(keystone.session(signal)).rejects.not.toMatchObject({ kind: 'badCredential' });
      expect((await keystone.session(signal)).token).toBe('t');
    },
  );

  test.each([
    [
      'without a token header',
      answerOf(201, {
        token: {
          project: { id: 'p1' },
          issued_at: '2026-01-01T00:00:00Z',
          expires_at: '2026-01-01T01:00:00Z',
          catalog: [],
        },
      }),
      /no X-Subject-Token/,
    ],
    [
      'with an empty token header',
      { ...tokenAnswer('', 3_600_000), headers: { 'x-subject-token': '' } },
      /no X-Subject-Token/,
    ],
    [
      'without expires_at',
      answerOf(201, {
        token: { project: { id: 'p1' }, issued_at: '2026-01-01T00:00:00Z', catalog: [] },
      }),
      /expires_at/,
    ],
    ['with status 200', answerOf(200, {}), /answered 200/],
  ])('a token answer %s is an error', async (_, answer, message) => {
    const caller = createFakeCaller(() => answer);
    const clock = createFakeClock();
    const gate = new CredentialGate(clock);
    const keystone = createKeystone({
      identity,
      caller,
      clock,
      lifetime: signal,
      gate,
      turns: new RefreshTurns(clock),
    });
    await expect(keystone.session(signal)).rejects.toThrow(message);
  });
});
