import { expect, test } from 'vitest';
import { answerOf, createFakeCaller } from '../requests/fake-caller.ts';
import type { HttpAnswer } from '../requests/transport.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { type CloudIdentity, passwordAuth } from './cloud-identity.ts';
import { CredentialGate } from './credential-gate.ts';
import { createKeystone } from './keystone.ts';
import { RefreshTurns } from './refresh-turns.ts';

const signal = new AbortController().signal;
const account = { username: 'admin', password: 'hidden', domainName: 'Default', projectId: 'p1' };
const identity: CloudIdentity = {
  keystoneUrl: 'http://keystone:5000',
  auth: passwordAuth(account),
  interface: 'public',
  tls: {},
  timeoutMs: 10_000,
};

function refusal(message: string): HttpAnswer {
  return answerOf(401, { error: { code: 401, message } });
}

const receipt = {
  receipt: { methods: ['password'], user: { id: 'u1' } },
  required_auth_methods: [['totp', 'password']],
};
test.each([
  [
    'an expired password',
    refusal('The password is expired and needs to be changed for user: u1.'),
    '(Keystone: The password is expired and needs to be changed for user: u1.)',
    1,
  ],
  [
    'a locked account',
    refusal('The account is locked for user: u1.'),
    '(Keystone: The account is locked for user: u1.)',
    1,
  ],
  [
    'a disabled account',
    refusal('The account is disabled for user: u1.'),
    '(Keystone: The account is disabled for user: u1.)',
    1,
  ],
  [
    'a receipt',
    answerOf(401, receipt, { 'openstack-auth-receipt': 'r' }),
    '(Keystone requires totp and password; use an application credential)',
    1,
  ],
  [
    'a missing authentication step',
    refusal('Additional authentications steps required.'),
    '(Keystone requires further authentication methods; use an application credential)',
    1,
  ],
  [
    'a cause that may be the project',
    refusal('User u1 is unauthorized for tenant p1.'),
    '(Keystone: User u1 is unauthorized for tenant p1.)',
    2,
  ],
  ['a generic message', refusal('The request you have made requires authentication.'), '', 2],
  ['a text that holds the password', refusal('The account is locked, hidden.'), '', 1],
  ['a page of a proxy', { status: 401, headers: {}, text: '<h1>Unauthorized</h1>' }, '', 2],
])("a refused login with %s is reported in Keystone's words", async (_, answer, words, logins) => {
  const clock = createFakeClock();
  const [gate, turns] = [new CredentialGate(clock), new RefreshTurns(clock)];
  const caller = createFakeCaller(() => answer);
  const keystone = createKeystone({ identity, caller, clock, gate, turns, lifetime: signal });
  const who = 'keystone: user "admin" of domain "Default" was refused for project "p1"';
  for (let n = 0; n < 2; n++) {
    await expect(keystone.session(signal)).rejects.toMatchObject({
      kind: 'badCredential',
      message: words === '' ? who : `${who} ${words}`,
    });
  }
  expect(caller.calls).toBe(logins);
});
