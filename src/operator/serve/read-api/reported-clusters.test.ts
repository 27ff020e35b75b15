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

it('ReportedClusters shares a read that waits 19 s for Viola, and gives up after 20 s', async () => {
  const clock = createFakeClock();
  const answers: ((items: readonly never[]) => void)[] = [];
  const violas = {
    clusters: async () => new Promise<readonly never[]>((end) => answers.push(end)),
  };
  const reported = new ReportedClusters({ violas, clock });
  const { signal } = new AbortController();
  const read = async () => (await reported.read([endpoint], signal)).get(endpoint.url);

  const first = read();
  await clock.advance(19_000);
  const second = read();
  expect(answers).toHaveLength(1);
  answers[0]?.([]);
  expect(await Promise.all([first, second])).toEqual([
    { kind: 'read', items: [] },
    { kind: 'read', items: [] },
  ]);

  await clock.advance(11_000);
  const late = read();
  await clock.advance(20_000);
  expect(await late).toEqual({ kind: 'unread', why: 'no answer within 20 s' });
  expect(answers).toHaveLength(2);
});
