import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFixture } from '../../../test/fixtures/access.ts';
import { violaCa } from '../../../test/fixtures/certificates.ts';
import { createPerform } from '../../process/effects.ts';
import { readSettings } from '../../process/settings.ts';
import { operatorSettings } from '../settings.ts';
import { openCredentials } from './credentials.ts';

let bed: AccessFixture;
let directory: string;

beforeAll(async () => {
  bed = await AccessFixture.start();
});
afterAll(async () => bed[Symbol.asyncDispose]());
beforeEach(async () => {
  await bed.empty();
  directory = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterEach(async () => rm(directory, { recursive: true }));

async function open(flags: Readonly<Record<string, string>>) {
  const settings = readSettings(operatorSettings, {
    env: {},
    flags: { namespace: bed.namespace, ...flags },
  });
  const { client, log, metrics, clock } = bed;
  const perform = createPerform(() => undefined);
  return openCredentials(settings, { client, log, metrics, clock, random: () => 0.5, perform });
}

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** Token and authorities while there is a leader. */
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
  it('takes both out of files that are given, and keeps nothing', async () => {
    const flags = {
      'viola-token-file': file('token', 'abc\n'),
      'viola-ca-file': file('ca', violaCa),
    };
    expect(await led(await open(flags))).toEqual({ token: 'abc', ca: violaCa });
    expect(await bed.secret('multinic-ca')).toBeUndefined();
  });

  it('has no token and the authorities of the system when nothing is given', async () => {
    expect(await led(await open({}))).toEqual({ token: undefined, ca: undefined });
  });

  it('takes both out of what it keeps, when a first look has shown it', async () => {
    const credentials = await open({ 'viola-access': 'managed', 'viola-tls': 'managed' });
    await expect(credentials.token?.()).rejects.toThrow(
      'the operator has no token for Viola yet: the Secrets are not read yet',
    );
    await expect(credentials.authorities()).rejects.toThrow('has no certificate authority');
    const { token, ca } = await led(credentials);
    expect(token).toBe((await bed.data('multinic-operator-viola-token'))['token']);
    expect(ca).toBe((await bed.data('multinic-ca'))['ca.crt']);
  });

  it('keeps one and is given the other', async () => {
    const flags = { 'viola-access': 'managed', 'viola-ca-file': file('ca', violaCa) };
    const { token, ca } = await led(await open(flags));
    expect([token?.length, ca]).toEqual([64, violaCa]);
    expect(await bed.secret('multinic-ca')).toBeUndefined();
  });

  it.each([
    ['--viola-access', '--viola-token-file'],
    ['--viola-tls', '--viola-ca-file'],
  ])('refuses %s managed beside %s', async (setting, path) => {
    const opened = open({ [setting.slice(2)]: 'managed', [path.slice(2)]: '/given' });
    await expect(opened).rejects.toThrow(`${setting} managed and ${path} exclude each other`);
  });

  it('says why there is nothing yet', async () => {
    bed.api.faults.answer({
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
