import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../time/fake-clock.ts';
import { CredentialGate } from './credential-gate.ts';

it('a password that was right once and is wrong now is tried by one at a time again', async () => {
  const clock = createFakeClock();
  const gate = new CredentialGate(clock);
  await gate.logIn(async () => ({ kind: 'accepted', value: 'token' }));
  let tries = 0;
  const refused = async () => {
    tries += 1;
    return { kind: 'refused', error: new Error('wrong password') } as const;
  };
  await expect(gate.logIn(refused)).rejects.toThrow('wrong password');
  gate.ask('again');
  const all = [1, 2, 3].map(async () => gate.logIn(refused));
  for (const one of all) await expect(one).rejects.toThrow('wrong password');
  expect(tries).toBe(2);
});

it('a Keystone that hangs is waited for once, however many projects want to log in', async () => {
  const gate = new CredentialGate(createFakeClock());
  const { promise, reject } = Promise.withResolvers<never>();
  let tries = 0;
  const all = [1, 2, 3].map(async () =>
    gate.logIn(() => {
      tries += 1;
      return promise;
    }),
  );
  reject(new Error('no answer within 30 s'));
  for (const one of all) await expect(one).rejects.toThrow('no answer within 30 s');
  expect(tries).toBe(1);
});

/** A Keystone that counts the logins that it refuses. */
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

describe('an account is not locked out', () => {
  it('by projects whose tokens were revoked together as the password was changed', async () => {
    const clock = createFakeClock();
    const gate = new CredentialGate(clock);
    const { counted, logIn } = refusing(gate);
    await gate.logIn(async () => ({ kind: 'accepted', value: 'token' }));
    await clock.advance(3_600_000);
    await Promise.all(Array.from({ length: 50 }, logIn));
    expect(counted.tries).toBe(1);
  });

  it('by fifty OpenstackConfigs that were all asked for before the process started', async () => {
    const clock = createFakeClock();
    const gate = new CredentialGate(clock);
    const { counted, logIn } = refusing(gate);
    for (let n = 0; n < 50; n += 1) {
      gate.ask(`n/osc-${n} noon`);
      await logIn();
      await clock.advance(1_000);
    }
    expect(counted.tries).toBe(1);
  });

  it('by a flood of calls, each of which asks anew', async () => {
    const clock = createFakeClock();
    const gate = new CredentialGate(clock);
    const { counted, logIn } = refusing(gate);
    for (let second = 0; second < 3_600; second += 5) {
      gate.ask(`n/osc ${second}`);
      await logIn();
      await clock.advance(5_000);
    }
    // After 0, 1, 3, 7, 15 and 31 minutes.
    expect(counted.tries).toBe(6);
  });
});

it('who asks is served at once after a refusal that nobody asked for', async () => {
  const gate = new CredentialGate(createFakeClock());
  const { counted, logIn } = refusing(gate);
  await logIn();
  gate.ask('n/osc noon');
  await logIn();
  expect(counted.tries).toBe(2);
});

it('who asked while a token was there has not asked for the login that is refused later', async () => {
  const gate = new CredentialGate(createFakeClock());
  const { counted, logIn } = refusing(gate);
  gate.ask('n/osc noon');
  gate.served();
  await logIn();
  gate.ask('n/osc one');
  await logIn();
  expect(counted.tries).toBe(2);
});

it('a password that was right in between is asked for as if it had never been wrong', async () => {
  const clock = createFakeClock();
  const gate = new CredentialGate(clock);
  const { counted, logIn } = refusing(gate);
  for (const value of ['first', 'second']) {
    gate.ask(value);
    await logIn();
    await clock.advance(60_000);
  }
  await clock.advance(60_000);
  gate.ask('third');
  await gate.logIn(async () => ({ kind: 'accepted', value: 'token' }));
  for (const value of ['fourth', 'fifth']) {
    gate.ask(value);
    await logIn();
    await clock.advance(60_000);
  }
  expect(counted.tries).toBe(4);
});

it('keeps in mind what it was asked last, and not all that it ever was', async () => {
  const clock = createFakeClock();
  const gate = new CredentialGate(clock);
  gate.ask('old');
  for (let n = 0; n < 999; n += 1) gate.ask(`${n}`);
  await clock.advance(1);
  gate.ask('old');
  expect(gate.askedAt).toBe(clock.monotonicMs() - 1);
  gate.ask('1000');
  await clock.advance(1);
  gate.ask('0');
  expect(gate.askedAt).toBe(clock.monotonicMs());
});
