import type { Scenario } from '../scenario.ts';

/** Several NICs in one subnet. */
export const routing: readonly Scenario[] = [
  {
    id: 'RW-41',
    field: 'Of several NICs in one subnet the wrong one answered, or none.',
    by: 'agent',
    holds:
      'Each answers for its own addresses alone, traffic and ARP, and the way out of the node stays; a subnet of the primary NIC is refused.',
  },
  {
    id: 'RW-42',
    field: 'Rules were added again at each run, as no version of ip replaces them.',
    by: 'agent',
    holds: 'There is one rule for each address, of a fixed priority; more of them go.',
  },
  {
    id: 'RW-43',
    field: 'NICs that were configured side by side changed the routes of each other.',
    by: 'agent',
    holds: 'All at once come to the same as one after the other.',
  },
  {
    id: 'RW-44',
    field: 'After a change of address the old one was still there, and so was its rule.',
    by: 'agent',
    holds: 'Nothing of the old address is left.',
  },
  {
    id: 'RW-45',
    field: 'systemd-networkd removes rules that it does not know whenever it starts.',
    by: 'agent',
    holds:
      'Rules are of a kind that it keeps; what a restart takes all the same is found and put back.',
  },
];
