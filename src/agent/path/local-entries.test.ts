import { expect, it } from 'vitest';
import { address, entry, host, link, route } from '../../../test/fixtures/agent-samples.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { withLocalEntries, withoutLocalEntry } from './local-entries.ts';

const nicLink = link(1, { name: 'multinic0', up: true });
const nic = {
  entry: entry(1, { addresses: ['10.0.0.1/24', 'fd00::1/64'] }),
  link: nicLink,
  table: 100,
};
const local = (ip: string, name: string) => route(ip, name, { type: 2, table: 255, protocol: 2 });
const early = host([nicLink], {
  addresses: [address('multinic0', '10.0.0.1/24'), address('multinic0', 'fd00::1/64')],
  routes: [local('10.0.0.1/32', 'multinic0'), local('::1/128', 'lo')],
});
const later = { ...early, routes: [...early.routes, local('fd00::1/128', 'multinic0')] };

it.each([
  ['appears after two reads', [early, later], undefined],
  ['is still missing after a second', [early], 'fd00::1'],
])(
  'withLocalEntries() reads again while an entry of an IPv6 address %s',
  async (_, reads, missing) => {
    const clock = createFakeClock();
    let at = 0;
    const read = async () => reads[Math.min(at++, reads.length - 1)] ?? early;
    const found = withLocalEntries([nic], early, { clock, read });
    await clock.advance(1_000);
    expect(withoutLocalEntry(nic, await found)).toBe(missing);
  },
);
