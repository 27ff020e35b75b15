import { proof, type Scenario } from '../scenario.ts';

const subnet = 'test/namespaces/same-subnet.test.ts';

/** Several NICs in one subnet. */
export const routing: readonly Scenario[] = [
  {
    id: 'RW-41',
    field: 'Of several NICs in one subnet the wrong one answered, or none.',
    by: 'agent',
    holds:
      'Each answers for its own addresses alone, traffic and ARP, and the way out of the node stays; a subnet of the primary NIC is refused.',
    proofs: [
      proof(
        subnet,
        'NICs of one subnet > answer each for itself, for traffic and for its address, and the way out stays',
      ),
      proof(
        'test/namespaces/refusals.test.ts',
        "refusals > a subnet that overlaps the primary NIC's",
      ),
    ],
  },
  {
    id: 'RW-42',
    field: 'Rules were added again at each run, as no version of ip replaces them.',
    by: 'agent',
    holds: 'There is one rule for each address, of a fixed priority; more of them go.',
    proofs: [
      proof(
        'src/agent/planning/diff.test.ts',
        'from one state to another > a rule that is there twice is deleted once',
      ),
    ],
  },
  {
    id: 'RW-43',
    field: 'NICs that were configured side by side changed the routes of each other.',
    by: 'agent',
    holds: 'All at once come to the same as one after the other.',
    proofs: [
      proof(subnet, 'NICs of one subnet > come to the same at once and one after the other'),
    ],
  },
  {
    id: 'RW-44',
    field: 'After a change of address the old one was still there, and so was its rule.',
    by: 'agent',
    holds: 'Nothing of the old address is left.',
    proofs: [
      proof(
        'test/namespaces/attach.test.ts',
        'attach > another address replaces the old one, and nothing of the old one is left',
      ),
    ],
  },
  {
    id: 'RW-45',
    field: 'systemd-networkd removes rules that it does not know whenever it starts.',
    by: 'agent',
    holds:
      'Rules are of a kind that it keeps; what a restart takes all the same is found and put back.',
    proofs: [
      proof(
        'test/namespaces/attach.test.ts',
        'attach > a NIC gets name, MTU, address, routes, rule and a file only root can read',
      ),
      proof(
        'test/namespaces/check.test.ts',
        'a check > names what somebody took away, and an apply puts it back',
      ),
      proof(
        'test/boxes/matrix.test.ts',
        'hosts in boxes > $name: one state in all families, after apply, boot and restart',
      ),
    ],
  },
];
