import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFixture } from '../../../test/fixtures/access.ts';
import { metricTable } from '../../api/metrics.ts';
import { events, secrets } from '../../kube/core-resources.ts';
import { createPerform } from '../../process/effects.ts';
import { createMetrics } from '../../process/metrics.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createAccessKeeper, type KeeperDeps, lookMs } from './keeper.ts';

const all = ['multinic-ca', 'multinic-operator-viola-token', 'viola-api-tls', 'viola-api-tokens'];
let bed: AccessFixture;

const random = () => 0.5;

beforeAll(async () => {
  bed = await AccessFixture.start();
});
afterAll(async () => bed[Symbol.asyncDispose]());
beforeEach(async () => bed.empty());

/** A process that leads from the beginning, and keeps Secrets beside work that goes on until it is told to end. */
function lead(keeps: KeeperDeps['keeps'] = { tokens: true, tls: true }) {
  const clock = createFakeClock(new Date());
  const metrics = createMetrics(metricTable);
  const { client, namespace, log } = bed;
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
    /** Resolves when its work has begun. */
    working: async () => term.working,
    /** The next look, to its end: `afterMs` after the last one, and the one after it comes `nextMs` later. */
    async look(afterMs = lookMs, nextMs = lookMs): Promise<void> {
      const before = bed.api.audit.length;
      await expect.poll(() => clock.waits).toContain(afterMs);
      await clock.advance(afterMs);
      await expect.poll(() => bed.api.audit.length).toBeGreaterThan(before);
      await expect.poll(() => clock.waits).toContain(nextMs);
    },
    async stop(): Promise<void> {
      term.stop.abort(new Error('stopped'));
      await term.ended.catch(() => undefined);
    },
    /** Leads once more. */
    async again(): Promise<void> {
      term = begin();
      await term.working;
    },
  };
}

async function names(): Promise<string[]> {
  const { items } = await bed.client.list(secrets, { namespace: bed.namespace });
  return items.map(({ metadata }) => metadata.name).toSorted();
}

async function told(): Promise<string[]> {
  const { items } = await bed.client.list(events, { namespace: bed.namespace });
  return items.map(
    ({ involvedObject, type, reason }) => `${type} ${reason} ${involvedObject.name}`,
  );
}

const logged = (text: string) => bed.lines.filter((line) => line.includes(text)).length;

describe('the keeper of the access to Viola', () => {
  it('has made everything when the work begins, and makes again what is deleted', async () => {
    const leader = lead();
    await leader.working();
    expect(await names()).toEqual(all);
    expect(leader.keeper.token).toBe((await bed.data('multinic-operator-viola-token'))['token']);
    expect(leader.keeper.authorities).toBe((await bed.data('multinic-ca'))['ca.crt']);
    await bed.delete(...all);
    await leader.look();
    await expect.poll(names).toEqual(all);
    expect(leader.keeper.trouble).toBeUndefined();
    await leader.stop();
  });

  it('shows when what it keeps ends and is renewed', async () => {
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
  ])('keeps %s alone when the others are given', async (_, keeps, expected) => {
    const leader = lead(keeps);
    await leader.working();
    await leader.look();
    expect(await names()).toEqual(expected);
    await leader.stop();
  });

  it('says whose Secret stands in the way, keeps the others, and goes on when it is gone', async () => {
    const metadata = { namespace: bed.namespace, name: 'viola-api-tls' };
    await bed.client.create(secrets, { metadata, data: { 'tls.crt': 'dGhlaXJz' } });
    const leader = lead();
    await leader.working();
    await leader.look(1_000, 2_000);
    expect(await names()).toEqual([
      'multinic-operator-viola-token',
      'viola-api-tls',
      'viola-api-tokens',
    ]);
    expect(await bed.data('viola-api-tls')).toEqual({ 'tls.crt': 'theirs' });
    expect(leader.keeper.trouble).toContain('viola-api-tls was not made by the operator');
    expect(leader.keeper.token).toBeDefined();
    await expect.poll(told).toEqual(['Warning ViolaAccessFailed viola-api-tls']);
    expect(logged('cannot be kept')).toBe(1);
    expect(await leader.metrics.registry.metrics()).toContain(
      'multinic_viola_access_failures_total{secret="viola-api-tls"} 2',
    );
    await bed.delete('viola-api-tls');
    await leader.look(2_000);
    await expect.poll(names).toEqual(all);
    expect(leader.keeper.trouble).toBeUndefined();
    expect(logged('is kept again')).toBe(1);
    await leader.stop();
  });

  it('lets the work begin, and go on, while the API server refuses everything, and tries again soon', async () => {
    bed.api.faults.answer({
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
      message: 'secrets "x" is forbidden',
      times: 4,
    });
    const leader = lead();
    await leader.working();
    await leader.look(1_000, 2_000);
    expect(leader.keeper.trouble).toContain('is forbidden');
    expect([leader.keeper.token, leader.keeper.authorities]).toEqual([undefined, undefined]);
    await leader.look(2_000);
    await expect.poll(names).toEqual(all);
    expect(leader.keeper.token).toBeDefined();
    await leader.stop();
  });

  it('says nothing of a write that somebody else was faster with', async () => {
    bed.api.faults.answer({
      verb: 'patch',
      resource: 'secrets',
      status: 409,
      reason: 'Conflict',
      times: 2,
    });
    const leader = lead();
    await leader.working();
    await leader.look();
    await expect.poll(names).toEqual(all);
    expect([logged('cannot be kept'), logged('somebody else wrote')]).toEqual([0, 2]);
    await leader.stop();
  });

  it('does not count what was granted while it did not lead', async () => {
    const leader = lead({ tokens: true, tls: false });
    await leader.working();
    await bed.edit('multinic-operator-viola-token', { next: 'a-token-of-our-own-making' });
    await leader.look();
    await leader.stop();
    await leader.clock.advance(15 * lookMs);
    const before = await bed.data('multinic-operator-viola-token');
    await leader.again();
    expect(await bed.data('multinic-operator-viola-token')).toEqual(before);
    await leader.stop();
  });

  it('believes nothing any more that was withdrawn before it led again', async () => {
    const leader = lead();
    await leader.working();
    const { token, authorities = '' } = leader.keeper;
    await leader.stop();
    await bed.delete(...all);
    await leader.again();
    expect(leader.keeper.authorities).not.toContain(authorities);
    expect(leader.keeper.token).not.toBe(token);
    await leader.stop();
  });

  it('takes a look that it has to break off for no trouble', async () => {
    bed.api.faults.delay({ resource: 'secrets', ms: 60_000 });
    const leader = lead();
    await leader.stop();
    expect(leader.keeper.trouble).toBeUndefined();
    expect(logged('cannot be kept')).toBe(0);
    bed.api.faults.clear();
  });

  it('looks at nothing any more when it does not lead', async () => {
    const leader = lead();
    await leader.working();
    await leader.stop();
    await bed.delete(...all);
    await leader.clock.advance(2 * lookMs);
    expect(await names()).toEqual([]);
  });
});
