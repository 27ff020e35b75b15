import { expect, it } from 'vitest';
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
  await clock.advance(3_600_000);
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
