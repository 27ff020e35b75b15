import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFixture } from '../../../../test/fixtures/access.ts';
import { metricTable } from '../../../api/metrics.ts';
import { events, secrets } from '../../../kube/core-resources.ts';
import { createPerform } from '../../../process/effects.ts';
import { createMetrics } from '../../../process/metrics.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { checkIntervalMs, createAccessKeeper, type KeeperDeps } from './keeper.ts';

const all = ['multinic-ca', 'multinic-operator-viola-token', 'viola-api-tls', 'viola-api-tokens'];
let fixture: AccessFixture;

const random = () => 0.5;

beforeAll(async () => {
  fixture = await AccessFixture.start();
});
afterAll(async () => fixture[Symbol.asyncDispose]());
beforeEach(async () => fixture.empty());

/** Starts a leading process that maintains Secrets until it is stopped. */
function lead(keeps: KeeperDeps['keeps'] = { tokens: true, tls: true }) {
  const clock = createFakeClock(new Date());
  const metrics = createMetrics(metricTable);
  const { client, namespace, log } = fixture;
  const perform = createPerform(() => undefined);
  const keeper = createAccessKeeper({
    client,
    namespace,
    perform,
    clock,
    random,
    log,
    metrics,
    keeps,
  });

  function begin() {
    const stop = new AbortController();
    const begun = Promise.withResolvers<void>();
    const ended = keeper.during(stop.signal, async (leading) => {
      begun.resolve();
      await new Promise<void>((resolve) => leading.addEventListener('abort', () => resolve()));
    });
    return { stop, ended, working: begun.promise };
  }
  let term = begin();

  return {
    clock,
    keeper,
    metrics,
    /** Resolves when the leader's work has started. */
    working: async () => term.working,
    /** Runs the next round, `afterMs` after the last round; the following round is due `nextMs` later. */
    async nextRound(afterMs = checkIntervalMs, nextMs = checkIntervalMs): Promise<void> {
      const before = fixture.api.audit.length;
      await expect.poll(() => clock.waits).toContain(afterMs);
      await clock.advance(afterMs);
      await expect.poll(() => fixture.api.audit.length).toBeGreaterThan(before);
      await expect.poll(() => clock.waits).toContain(nextMs);
    },
    async stop(): Promise<void> {
      term.stop.abort(new Error('stopped'));
      await term.ended.catch(() => undefined);
    },
    /** Starts a new term. */
    async again(): Promise<void> {
      term = begin();
      await term.working;
    },
  };
}

async function names(): Promise<string[]> {
  const { items } = await fixture.client.list(secrets, { namespace: fixture.namespace });
  return items.map(({ metadata }) => metadata.name).toSorted();
}

async function eventTexts(): Promise<string[]> {
  const { items } = await fixture.client.list(events, { namespace: fixture.namespace });
  return items.map(
    ({ involvedObject, type, reason }) => `${type} ${reason} ${involvedObject.name}`,
  );
}

const logged = (text: string) => fixture.lines.filter((line) => line.includes(text)).length;

describe('Secrets for access to Viola', () => {
  it('the keeper writes all Secrets before the work starts, and restores deleted Secrets', async () => {
    const leader = lead();
    await leader.working();
    expect(await names()).toEqual(all);
    expect(leader.keeper.token).toBe(
      (await fixture.data('multinic-operator-viola-token'))['token'],
    );
    expect(leader.keeper.authorities).toBe((await fixture.data('multinic-ca'))['ca.crt']);
    await fixture.delete(...all);
    await leader.nextRound();
    await expect.poll(names).toEqual(all);
    expect(leader.keeper.problem).toBeUndefined();
    await leader.stop();
  });

  it('the keeper exports expiry and renewal times as metrics', async () => {
    const leader = lead();
    await leader.working();
    const text = await leader.metrics.registry.metrics();
    const days = (metric: string) => {
      const [, seconds] =
        text
          .split('\n')
          .find((line) => line.startsWith(metric))
          ?.split(' ') ?? [];
      return Math.round((Number(seconds) * 1_000 - Date.now()) / 86_400_000);
    };
    const expiry = 'multinic_viola_certificate_expiry_timestamp_seconds';
    expect([days(`${expiry}{certificate="ca"}`), days(`${expiry}{certificate="server"}`)]).toEqual([
      3_650, 90,
    ]);
    const renewal = 'multinic_viola_access_renewal_timestamp_seconds';
    expect([days(`${renewal}{what="certificate"}`), days(`${renewal}{what="token"}`)]).toEqual([
      60, 30,
    ]);
    await leader.stop();
  });

  it.each([
    ['tokens', { tokens: true, tls: false }, ['multinic-operator-viola-token', 'viola-api-tokens']],
    ['certificates', { tokens: false, tls: true }, ['multinic-ca', 'viola-api-tls']],
  ])(
    'the keeper maintains only %s when the remaining credentials are given',
    async (_, keeps, expected) => {
      const leader = lead(keeps);
      await leader.working();
      await leader.nextRound();
      expect(await names()).toEqual(expected);
      await leader.stop();
    },
  );

  it('the keeper reports a foreign Secret, maintains its own Secrets, and recovers when the foreign Secret is deleted', async () => {
    const metadata = { namespace: fixture.namespace, name: 'viola-api-tls' };
    await fixture.client.create(secrets, { metadata, data: { 'tls.crt': 'dGhlaXJz' } });
    const leader = lead();
    await leader.working();
    await leader.nextRound(1_000, 2_000);
    expect(await names()).toEqual([
      'multinic-operator-viola-token',
      'viola-api-tls',
      'viola-api-tokens',
    ]);
    expect(await fixture.data('viola-api-tls')).toEqual({ 'tls.crt': 'theirs' });
    expect(leader.keeper.problem).toContain('viola-api-tls was not created by the operator');
    expect(leader.keeper.token).toBeDefined();
    await expect.poll(eventTexts).toEqual(['Warning ViolaAccessFailed viola-api-tls']);
    expect(logged('cannot be updated')).toBe(1);
    expect(await leader.metrics.registry.metrics()).toContain(
      'multinic_viola_access_failures_total{secret="viola-api-tls"} 2',
    );
    await fixture.delete('viola-api-tls');
    await leader.nextRound(2_000);
    await expect.poll(names).toEqual(all);
    expect(leader.keeper.problem).toBeUndefined();
    expect(logged('is up to date again')).toBe(1);
    await leader.stop();
  });

  it('the keeper lets the work start while the API server refuses every request, and retries within seconds', async () => {
    fixture.api.faults.answer({
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
      message: 'secrets "x" is forbidden',
      times: 4,
    });
    const leader = lead();
    await leader.working();
    await leader.nextRound(1_000, 2_000);
    expect(leader.keeper.problem).toContain('is forbidden');
    expect([leader.keeper.token, leader.keeper.authorities]).toEqual([undefined, undefined]);
    await leader.nextRound(2_000);
    await expect.poll(names).toEqual(all);
    expect(leader.keeper.token).toBeDefined();
    await leader.stop();
  });

  it('the keeper reports no problem when another writer was faster', async () => {
    fixture.api.faults.answer({
      verb: 'patch',
      resource: 'secrets',
      status: 409,
      reason: 'Conflict',
      times: 2,
    });
    const leader = lead();
    await leader.working();
    await leader.nextRound();
    await expect.poll(names).toEqual(all);
    expect([logged('cannot be updated'), logged('was changed by another writer')]).toEqual([0, 2]);
    await leader.stop();
  });

  it('a new term restarts the wait for a next token', async () => {
    const leader = lead({ tokens: true, tls: false });
    await leader.working();
    await fixture.edit('multinic-operator-viola-token', { next: 'a-token-of-our-own-making' });
    await leader.nextRound();
    await leader.stop();
    await leader.clock.advance(15 * checkIntervalMs);
    const before = await fixture.data('multinic-operator-viola-token');
    await leader.again();
    expect(await fixture.data('multinic-operator-viola-token')).toEqual(before);
    await leader.stop();
  });

  it('a new term drops a token and an authority withdrawn meanwhile', async () => {
    const leader = lead();
    await leader.working();
    const { token, authorities = '' } = leader.keeper;
    await leader.stop();
    await fixture.delete(...all);
    await leader.again();
    expect(leader.keeper.authorities).not.toContain(authorities);
    expect(leader.keeper.token).not.toBe(token);
    await leader.stop();
  });

  it('an aborted round is not reported as a problem', async () => {
    fixture.api.faults.delay({ resource: 'secrets', ms: 60_000 });
    const leader = lead();
    await leader.stop();
    expect(leader.keeper.problem).toBeUndefined();
    expect(logged('cannot be updated')).toBe(0);
    fixture.api.faults.clear();
  });

  it('the keeper writes no Secrets after its term', async () => {
    const leader = lead();
    await leader.working();
    await leader.stop();
    await fixture.delete(...all);
    await leader.clock.advance(2 * checkIntervalMs);
    expect(await names()).toEqual([]);
  });
});
