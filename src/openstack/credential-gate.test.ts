import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../time/fake-clock.ts';
import { CredentialGate } from './credential-gate.ts';

it('after a refusal, logins for a formerly accepted password are serialised again', async () => {
  const clock = createFakeClock();
  const gate = new CredentialGate(clock);
  await gate.logIn(async () => ({ kind: 'accepted', value: 'token' }));
  let tries = 0;
  const refused = async () => {
    tries += 1;
    return { kind: 'refused', error: new Error('wrong password') } as const;
  };
  await expect(gate.logIn(refused)).rejects.toThrow('wrong password');
  gate.requestLogin('again');
  const attempts = [1, 2, 3].map(async () => gate.logIn(refused));
  for (const one of attempts) await expect(one).rejects.toThrow('wrong password');
  expect(tries).toBe(2);
});

it('concurrent projects wait for a single hanging login and share its error', async () => {
  const gate = new CredentialGate(createFakeClock());
  const { promise, reject } = Promise.withResolvers<never>();
  let tries = 0;
  const attempts = [1, 2, 3].map(async () =>
    gate.logIn(() => {
      tries += 1;
      return promise;
    }),
  );
  reject(new Error('no answer within 30 s'));
  for (const one of attempts) await expect(one).rejects.toThrow('no answer within 30 s');
  expect(tries).toBe(1);
});

/** Returns a Keystone login that always fails, with a counter for its attempts. */
function refusing(gate: CredentialGate) {
  const counted = { tries: 0 };
  const logIn = async (): Promise<unknown> =>
    gate
      .logIn(async () => {
        counted.tries += 1;
        return { kind: 'refused', error: new Error('wrong password') } as const;
      })
      .catch((error: unknown) => error);
  return { counted, logIn };
}

describe('account lockout protection', () => {
  it('50 projects with revoked tokens and a changed password cause a single login', async () => {
    const clock = createFakeClock();
    const gate = new CredentialGate(clock);
    const { counted, logIn } = refusing(gate);
    await gate.logIn(async () => ({ kind: 'accepted', value: 'token' }));
    await clock.advance(3_600_000);
    await Promise.all(Array.from({ length: 50 }, logIn));
    expect(counted.tries).toBe(1);
  });

  it('login requests from 50 OpenstackConfigs at start cause a single login', async () => {
    const clock = createFakeClock();
    const gate = new CredentialGate(clock);
    const { counted, logIn } = refusing(gate);
    for (let n = 0; n < 50; n += 1) {
      gate.requestLogin(`n/osc-${n} noon`);
      await logIn();
      await clock.advance(1_000);
    }
    expect(counted.tries).toBe(1);
  });

  it('login requests every 5 s cause only 6 logins per hour', async () => {
    const clock = createFakeClock();
    const gate = new CredentialGate(clock);
    const { counted, logIn } = refusing(gate);
    for (let second = 0; second < 3_600; second += 5) {
      gate.requestLogin(`n/osc ${second}`);
      await logIn();
      await clock.advance(5_000);
    }
    // After 0, 1, 3, 7, 15 and 31 minutes.
    expect(counted.tries).toBe(6);
  });
});

it('a login request after an unrequested refusal is served at once', async () => {
  const gate = new CredentialGate(createFakeClock());
  const { counted, logIn } = refusing(gate);
  await logIn();
  gate.requestLogin('n/osc noon');
  await logIn();
  expect(counted.tries).toBe(2);
});

it('a login request served from a cached token does not count as request for a later refused login', async () => {
  const gate = new CredentialGate(createFakeClock());
  const { counted, logIn } = refusing(gate);
  gate.requestLogin('n/osc noon');
  gate.markServed();
  await logIn();
  gate.requestLogin('n/osc one');
  await logIn();
  expect(counted.tries).toBe(2);
});

it('an accepted password resets the backoff for later login requests', async () => {
  const clock = createFakeClock();
  const gate = new CredentialGate(clock);
  const { counted, logIn } = refusing(gate);
  for (const value of ['first', 'second']) {
    gate.requestLogin(value);
    await logIn();
    await clock.advance(60_000);
  }
  await clock.advance(60_000);
  gate.requestLogin('third');
  await gate.logIn(async () => ({ kind: 'accepted', value: 'token' }));
  for (const value of ['fourth', 'fifth']) {
    gate.requestLogin(value);
    await logIn();
    await clock.advance(60_000);
  }
  expect(counted.tries).toBe(4);
});

it('the gate recognises only the last 1000 login requests', async () => {
  const clock = createFakeClock();
  const gate = new CredentialGate(clock);
  gate.requestLogin('old');
  for (let n = 0; n < 999; n += 1) gate.requestLogin(`${n}`);
  await clock.advance(1);
  gate.requestLogin('old');
  expect(gate.requestedAt).toBe(clock.monotonicMs() - 1);
  gate.requestLogin('1000');
  await clock.advance(1);
  gate.requestLogin('0');
  expect(gate.requestedAt).toBe(clock.monotonicMs());
});
