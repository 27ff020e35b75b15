import { expect, it } from 'vitest';
import { createFakeClock } from '../../../time/fake-clock.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import { ReportedClusters } from './reported-clusters.ts';

const endpoint: ViolaEndpoint = {
  field: 'spec.viola',
  url: 'http://viola',
  trusted: true,
  compatibility: 'native',
} as never;

it('ReportedClusters answers after 8 s without Viola, and shares a read of 19 s with later callers', async () => {
  const clock = createFakeClock();
  const answers: ((items: readonly never[]) => void)[] = [];
  const violas = {
    clusters: async () => new Promise<readonly never[]>((end) => answers.push(end)),
  };
  const reported = new ReportedClusters({ violas, clock });
  const { signal } = new AbortController();
  const read = async () => (await reported.read([endpoint], signal)).get(endpoint.url);

  const first = read();
  await clock.advance(8_000);
  expect(await first).toEqual({ kind: 'unread', why: 'no answer within 8 s' });
  await clock.advance(11_000);
  const second = read();
  expect(answers).toHaveLength(1);
  answers[0]?.([]);
  expect(await second).toEqual({ kind: 'read', items: [] });

  await clock.advance(11_000);
  const late = read();
  await clock.advance(20_000);
  expect(await late).toEqual({ kind: 'unread', why: 'no answer within 8 s' });
  expect(answers).toHaveLength(2);
});

it('ReportedClusters marks a legacy Viola, which lists no business clusters', async () => {
  const violas = { clusters: () => Promise.reject(new Error('a legacy Viola gets no request')) };
  const reported = new ReportedClusters({ violas, clock: createFakeClock() });
  const legacy = { ...endpoint, compatibility: 'legacy' } as const;
  const reports = await reported.read([legacy], new AbortController().signal);
  expect(reports.get(legacy.url)).toMatchObject({ kind: 'unread', isLegacy: true });
});
