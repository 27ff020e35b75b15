import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { annotations, labels } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Secret } from '../../kube/core-resources.ts';
import { KubeError } from '../../kube/errors.ts';
import { createLogger } from '../../process/log.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { lifeOf, registeredToken } from './registered-token.ts';
import { renewTokens } from './token-renewal.ts';

const hour = 3_600_000;
const start = Date.parse('2026-03-01T00:00:00Z');

function tokenFor(from: number, to: number, id = 'old'): string {
  const parts = [{ alg: 'RS256' }, { iat: from / 1000, exp: to / 1000, id }];
  const encoded = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return [...encoded, 'signature'].join('.');
}

function kubeconfig(token: string): string {
  return stringify({
    clusters: [{ name: 'biz', cluster: { server: 'https://biz:6443' } }],
    users: [{ name: 'viola', user: { token } }],
    contexts: [{ name: 'biz', context: { cluster: 'biz', user: 'viola' } }],
    'current-context': 'biz',
  });
}

function secretWith(
  data: Readonly<Record<string, string>>,
  renews: string | undefined = 'viola',
): Secret {
  return {
    metadata: {
      name: 'biz',
      namespace: 'multinic-clusters',
      resourceVersion: '7',
      labels: { [labels.providerId]: 'biz' },
      ...(renews === undefined ? {} : { annotations: { [annotations.renewsTokenOf]: renews } }),
    },
    data: Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
  };
}

/** Starts the renewal for these registrations; records token requests and patches. */
function viola(
  registrations: readonly Secret[],
  answer: (account: string) => Promise<string>,
  { listedAfterMs = 0 }: { readonly listedAfterMs?: number } = {},
) {
  const clock = createFakeClock(new Date(start));
  const listed = () => clock.monotonicMs() >= listedAfterMs;
  const requests: unknown[] = [];
  const patches: unknown[] = [];
  const client = {
    create: async (resource: { readonly plural: string }, body: unknown) => {
      requests.push([resource.plural, body]);
      return { status: { token: await answer(resource.plural) } };
    },
  } as unknown as KubeClient;
  const cluster = {
    providerId: 'biz',
    server: 'https://biz:6443',
    namespace: 'multinic-system',
    client,
  };
  const management = {
    patch: async (_: unknown, __: unknown, change: unknown) => void patches.push(change),
  } as unknown as KubeClient;
  const end = new AbortController();
  const lines: string[] = [];
  const running = renewTokens(
    {
      secrets: { list: () => (listed() ? [...registrations] : []) },
      listed,
      clusters: { use: async (_, work) => work({ kind: 'found', cluster }) },
      management,
      perform: async (_, write) => write(),
      clock,
      log: createLogger({
        part: 'test',
        level: 'info',
        destination: { write: (line) => void lines.push(line) },
      }),
    },
    end.signal,
  );
  return { clock, requests, patches, lines, stop: async () => (end.abort(), running) };
}

describe('renewTokens', () => {
  it('a kubeconfig token is renewed after half its lifetime, not before', async () => {
    const old = tokenFor(start - 24 * hour, start + 25 * hour);
    const { clock, requests, patches, stop } = viola(
      [secretWith({ kubeconfig: kubeconfig(old) })],
      async () => 'new',
    );
    await clock.advance(20 * 60_000);
    expect(requests).toEqual([]);
    await clock.advance(hour);
    await expect.poll(() => patches.length).toBeGreaterThan(0);
    await stop();
    expect(requests[0]).toEqual([
      'serviceaccounts/viola/token',
      {
        metadata: { name: 'viola', namespace: 'multinic-system' },
        spec: { audiences: [], expirationSeconds: 49 * 3600 },
      },
    ]);
    const [{ metadata, data }] = patches as [{ metadata: object; data: { kubeconfig: string } }];
    expect(metadata).toEqual({ resourceVersion: '7' });
    expect(Buffer.from(data.kubeconfig, 'base64').toString()).toBe(kubeconfig('new'));
  });

  it('a token in the form server and token is renewed', async () => {
    const old = tokenFor(start - 3 * hour, start + hour);
    const { patches, stop } = viola(
      [secretWith({ server: 'https://biz:6443', token: old })],
      async () => 'new',
    );
    await expect.poll(() => patches).toHaveLength(1);
    await stop();
    expect(patches).toEqual([
      {
        metadata: { resourceVersion: '7' },
        data: { token: Buffer.from('new').toString('base64') },
      },
    ]);
  });

  it('a token without the renewal annotation is never renewed', async () => {
    const old = tokenFor(start - 3 * hour, start + hour);
    const secret = secretWith({ token: old });
    const { metadata } = secret;
    const { annotations: _, ...rest } = metadata;
    const { clock, requests, stop } = viola([{ ...secret, metadata: rest }], async () => 'new');
    await clock.advance(2 * hour);
    await stop();
    expect(requests).toEqual([]);
  });

  it('a refused renewal does not block other clusters, and is retried', async () => {
    const old = tokenFor(start - 3 * hour, start + hour);
    let refusals = 2;
    const { clock, patches, lines, stop } = viola(
      [secretWith({ token: old }, 'first'), secretWith({ token: old }, 'second')],
      async (plural) => {
        if (plural.includes('second') || --refusals < 0) return plural;
        throw new KubeError({ status: 403, reason: 'Forbidden', message: 'may not' });
      },
    );
    await expect.poll(() => patches).toHaveLength(1);
    expect(lines.join()).toContain('cannot renew the token of a business cluster');
    expect(lines.join()).toContain('"secretName":"multinic-clusters/biz"');
    expect(lines.join()).not.toContain(old);
    expect(lines.join()).toContain('"secretName":"multinic-clusters/biz"');
    await clock.advance(25 * 60_000);
    await expect
      .poll(() => JSON.stringify(patches))
      .toContain(Buffer.from('serviceaccounts/first/token').toString('base64'));
    await stop();
  });

  it('tokens are checked as soon as the Secrets are listed', async () => {
    const old = tokenFor(start - 3 * hour, start + hour);
    const secret = secretWith({ token: old });
    const { clock, patches, stop } = viola([secret], async () => 'new', { listedAfterMs: 3000 });
    await clock.advance(2500);
    expect(patches).toHaveLength(0);
    await clock.advance(2500);
    expect(patches).toHaveLength(1);
    await stop();
  });

  it('a ten-minute token is renewed before it expires', async () => {
    const minute = 60_000;
    const registrations = [secretWith({ token: tokenFor(start, start + 10 * minute) })];
    const { clock, patches, stop } = viola(registrations, async () => 'new');
    for (let minutes = 1; minutes <= 4; minutes++) await clock.advance(minute);
    expect(patches).toHaveLength(0);
    for (let minutes = 5; minutes <= 6; minutes++) await clock.advance(minute);
    await stop();
    expect(patches.length).toBeGreaterThan(0);
  });

  it('a ten-minute token is requested again before it expires after one failure', async () => {
    const minute = 60_000;
    const registrations = [secretWith({ token: tokenFor(start, start + 10 * minute) })];
    let isAway = true;
    const { clock, patches, stop } = viola(registrations, async () => {
      if (!isAway) return 'new';
      isAway = false;
      throw new KubeError({ status: 0, reason: 'Unreachable', message: 'away' });
    });
    for (let minutes = 1; minutes <= 9; minutes++) await clock.advance(minute);
    await stop();
    expect(patches.length).toBeGreaterThan(0);
  });

  it('an unreachable cluster is retried every ten minutes', async () => {
    const old = tokenFor(start - 30 * 24 * hour, start + 24 * hour);
    const { clock, requests, lines, stop } = viola([secretWith({ token: old })], async () => {
      throw new KubeError({ status: 0, reason: 'Unreachable', message: 'away' });
    });
    for (let minutes = 0; minutes < 60; minutes++) await clock.advance(60_000);
    await stop();
    expect(requests.length).toBeGreaterThanOrEqual(6);
    expect(requests.length).toBeLessThanOrEqual(7);
    expect(lines.filter((line) => line.includes('cannot renew'))).toHaveLength(requests.length);
  });

  it('a token without expiry is logged every ten minutes', async () => {
    const registrations = [secretWith({ token: 'opaque' })];
    const { clock, lines, requests, stop } = viola(registrations, async () => 'new');
    for (let minutes = 0; minutes < 15; minutes++) await clock.advance(60_000);
    await stop();
    expect(requests).toEqual([]);
    expect(lines.filter((line) => line.includes('register the cluster again'))).toHaveLength(2);
  });

  it('stopping Viola during a token request logs no failure', async () => {
    const old = tokenFor(start - 3 * hour, start + hour);
    const tokenReply = Promise.withResolvers<string>();
    const { lines, requests, stop } = viola([secretWith({ token: old })], () => tokenReply.promise);
    await expect.poll(() => requests).toHaveLength(1);
    const stopped = stop();
    tokenReply.reject(new Error('aborted'));
    await stopped;
    expect(lines).toEqual([]);
  });
});

describe('registeredToken and lifeOf', () => {
  it.each([
    ['not-yaml: [', undefined],
    ['users: []', undefined],
    ['users: [{name: a, user: {}}]', undefined],
    ['users: [{name: a, user: {token: a}}, {name: b, user: {token: b}}]', undefined],
  ])('registeredToken finds no token in kubeconfig %s', (text, expected) => {
    expect(registeredToken(secretWith({ kubeconfig: text }))).toBe(expected);
  });

  it.each([
    '',
    'a',
    'a.b.c',
    `a.${Buffer.from('{"iat":1}').toString('base64url')}.c`,
    `a.${Buffer.from('null').toString('base64url')}.c`,
  ])('lifeOf is undefined for token %j', (token) => {
    expect(lifeOf(token)).toBeUndefined();
  });
});
