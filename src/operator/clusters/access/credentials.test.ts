import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFixture } from '../../../../test/fixtures/access.ts';
import { violaCa } from '../../../../test/fixtures/certificates.ts';
import { createPerform } from '../../../process/effects.ts';
import { readSettings } from '../../../process/settings.ts';
import { operatorSettings } from '../../model/settings/operator.ts';
import { openCredentials } from './credentials.ts';

let fixture: AccessFixture;
let directory: string;

beforeAll(async () => {
  fixture = await AccessFixture.start();
});
afterAll(async () => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  await fixture.empty();
  directory = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterEach(async () => rm(directory, { recursive: true }));

async function open(flags: Readonly<Record<string, string>>) {
  const settings = readSettings(operatorSettings, {
    env: {},
    flags: { namespace: fixture.namespace, ...flags },
  });
  const { client, log, metrics, clock } = fixture;
  const perform = createPerform(() => undefined);
  return openCredentials(settings, { client, log, metrics, clock, random: () => 0.5, perform });
}

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** Returns token and CA bundle during a leader's term. */
async function led({ during, token, authorities }: Awaited<ReturnType<typeof open>>) {
  const stop = new AbortController();
  const shown = Promise.withResolvers<{ token?: string | undefined; ca: string | undefined }>();
  const ended = during(stop.signal, async (leading) => {
    shown.resolve({ token: await token?.(), ca: await authorities() });
    if (!leading.aborted) {
      await new Promise<void>((resolve) => leading.addEventListener('abort', () => resolve()));
    }
  });
  void ended.catch(shown.reject);
  const value = await shown.promise;
  stop.abort(new Error('stopped'));
  await ended;
  return value;
}

describe('openCredentials', () => {
  it('openCredentials takes token and CA bundle from given files and writes no Secret', async () => {
    const flags = {
      'viola-token-file': file('token', 'abc\n'),
      'viola-ca-file': file('ca', violaCa),
    };
    expect(await led(await open(flags))).toEqual({ token: 'abc', ca: violaCa });
    expect(await fixture.secret('multinic-ca')).toBeUndefined();
  });

  it("openCredentials returns no token and the system's CA bundle without settings", async () => {
    expect(await led(await open({}))).toEqual({ token: undefined, ca: undefined });
  });

  it('openCredentials returns managed token and CA bundle after the first read', async () => {
    const credentials = await open({ 'viola-access': 'managed', 'viola-tls': 'managed' });
    await expect(credentials.token?.()).rejects.toThrow(
      'the operator has no token for Viola yet: its Secrets are not read yet',
    );
    await expect(credentials.authorities()).rejects.toThrow('has no certificate authority');
    const { token, ca } = await led(credentials);
    expect(token).toBe((await fixture.data('multinic-operator-viola-token'))['token']);
    expect(ca).toBe((await fixture.data('multinic-ca'))['ca.crt']);
  });

  it('openCredentials combines a managed token with a given CA file', async () => {
    const flags = { 'viola-access': 'managed', 'viola-ca-file': file('ca', violaCa) };
    const { token, ca } = await led(await open(flags));
    expect([token?.length, ca]).toEqual([64, violaCa]);
    expect(await fixture.secret('multinic-ca')).toBeUndefined();
  });

  it.each([
    ['--viola-access', '--viola-token-file'],
    ['--viola-tls', '--viola-ca-file'],
  ])('openCredentials refuses %s managed together with %s', async (setting, path) => {
    const opened = open({ [setting.slice(2)]: 'managed', [path.slice(2)]: '/given' });
    await expect(opened).rejects.toThrow(`${setting} managed and ${path} exclude each other`);
  });

  it('openCredentials reports why a managed token is missing', async () => {
    fixture.api.faults.answer({
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
      message: 'no right',
      times: 2,
    });
    const credentials = await open({ 'viola-access': 'managed' });
    await expect(led(credentials)).rejects.toThrow(/no token for Viola yet: .*no right/);
  });
});
