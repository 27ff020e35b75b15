import { expect, it } from 'vitest';
import { ClusterIdentities } from './cluster-identities.ts';
import type { ReportedCluster } from './viola-clusters.ts';

const registered = (providerId: string, server: string): ReportedCluster => ({
  providerId,
  server,
  reachable: true,
  checkedAt: '2026-01-01T00:00:00Z',
  message: '',
});
const first = registered('biz-1', 'https://one');

it.each<[string, readonly ReportedCluster[], string[]]>([
  ['unchanged registrations', [first, registered('biz-2', 'https://two')], ['biz-2']],
  ['a registration with a new server', [first, registered('biz-2', 'https://three')], []],
  ['a removed registration', [first], []],
])('ids with shared objects after %s', (_, later, same) => {
  const identities = new ClusterIdentities();
  identities.use([first, registered('biz-2', 'https://two')]);
  identities.noteSame('biz-1', ['biz-2']);
  identities.use(later);
  identities.use([first, later[1] ?? registered('biz-2', 'https://two')]);
  expect(identities.sameAs('biz-1')).toEqual(same);
});
