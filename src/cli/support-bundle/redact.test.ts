import { expect, it } from 'vitest';
import { Redactor } from './redact.ts';

it.each([
  'OS_PASSWORD=Canary22 next',
  'DB_PASS=Canary22',
  '"access_token":"Canary22"',
  'rabbitPassword: Canary22',
  '{"msg":"{\\"password\\":\\"Canary horse Canary\\",\\"user\\":\\"jane\\"}"}',
  'password: "Canary; horse, \\"Canary"',
  "password='Canary horse Canary'",
  'password=abcCanary;&}Canary',
  '"adminPass": "Canary22"',
  'passphrase: Canary22',
  'Authorization: Basic Q2FuYXJ5OkNhbmFyeQ==Canary',
  '"cookie":"session=Canary22; path=Canary"',
  'X-Auth-Token: Canary0123456789',
  'amqp://:Canary22@host/v',
  'amqp://user:Can@Canary22@host/v',
  'https://user:Can/Canary22@host',
  'agent --token Canary22 --verbose',
])('a redactor replaces the secret in %s', (text) => {
  const redactor = new Redactor();
  expect(redactor.text(text)).not.toMatch(/Canary|Q2Fu/);
  expect(redactor.byPattern).toBeGreaterThan(0);
});

it.each([
  'secret:\n  secretName: multinic-ca',
  'https://10.0.0.5:6443/apis/x@y',
  'the token of biz-1 expires in 3 days',
  '--token-file /etc/multinic/token',
  'password: [redacted]',
])('a redactor leaves %j unchanged', (text) => {
  expect(new Redactor().text(text)).toBe(text);
});

it('a redactor replaces secret values in later texts', () => {
  const redactor = new Redactor();
  redactor.object({ password: 'Canary', token: 'Canary"22\n' });
  const text = `${JSON.stringify('got Canary"22\n')} Canary"22\n Canary`;
  expect(redactor.text(text)).toBe('"got [redacted]" [redacted] [redacted]');
});
