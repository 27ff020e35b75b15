import { expect, it } from 'vitest';
import { startApiServer } from '../../rig/apiserver/server.ts';
import { home, identities } from '../../rig/chain/identities.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { metricTable } from '../../src/api/metrics.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { claimsOf } from '../../src/kube/rights.ts';
import { createHealth } from '../../src/process/health.ts';
import { createLogger } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { createSelfCheck } from '../../src/self-check/self-check.ts';
import { systemClock } from '../../src/time/clock.ts';
import { createFakeClock } from '../../src/time/fake-clock.ts';
import { violaRights } from '../../src/viola/rights.ts';
import { about } from '../fixtures/about.ts';
import { useOf } from './used.ts';

const minute = 60_000;
/** Viola is registered for a namespace in which nobody granted it anything. */
const places = { registrations: ['elsewhere'], own: [home] };

it('what a part may not do is told on its Pod, once and again', async () => {
  await using api = await startApiServer();
  await using admin = createKubeClient(api.access, { clock: systemClock });
  await createAll(admin, 'management', 'viola');
  const mine = api.accessAs(identities.viola);
  await using client = createKubeClient(mine, { clock: systemClock });
  const clock = createFakeClock();
  const stop = new AbortController();
  const check = createSelfCheck({
    client,
    context: {
      clock,
      random: () => 0.5,
      log: createLogger({ part: 'viola', level: 'silent' }),
      metrics: createMetrics(metricTable),
      health: createHealth(),
      about,
      exit: () => undefined,
      pod: { name: 'viola-api-1', namespace: home, uid: 'u' },
    },
    component: 'viola',
    table: violaRights,
    claims: claimsOf(violaRights.rights, places),
  });
  const done = check?.(stop.signal);
  const counts = () =>
    api.objects('events', home).map((event) => (event as { count?: unknown }).count);
  await clock.advance(0);
  await expect.poll(counts).toEqual([1]);
  await expect
    .poll(async () => {
      await clock.advance(minute);
      return counts()[0];
    })
    .toBeGreaterThan(1);
  expect(api.objects('events', home)).toMatchObject([
    { reason: 'RightsMissing', involvedObject: { kind: 'Pod', name: 'viola-api-1', uid: 'u' } },
  ]);
  stop.abort(new Error('stop'));
  await done;
  expect(useOf(api.audit, identities.viola, claimsOf(violaRights.rights, places))).toMatchObject({
    unused: [
      'list secrets in elsewhere',
      'patch secrets in elsewhere',
      'watch secrets in elsewhere',
    ],
    refused: [],
    beyond: [],
  });
});
