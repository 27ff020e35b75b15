import { proof, type Scenario } from '../scenario.ts';

const plan = 'src/plan/interfaces.test.ts';

/** The database of the first generation, and what one part does to another. */
export const across: readonly Scenario[] = [
  {
    id: 'RW-80',
    field: 'A column had another name than the query, and nobody said which.',
    by: 'inventory',
    holds: 'Tables of another form are named, and not touched.',
    proofs: [
      proof(
        'test/integration/store-deployed.test.ts',
        'tables of an earlier form than the last are named, and are not touched',
      ),
    ],
  },
  {
    id: 'RW-81',
    field: 'An agent left out rows that somebody else had marked as deleted.',
    outOfScope: 'no agent reads a database: its request comes with its Job',
  },
  {
    id: 'RW-82',
    field: 'A manager was supported for a week, then not any more, and its hosts did not know.',
    by: 'agent',
    holds:
      'A host of a manager that has no files of ours is told as what it is, and nothing is written.',
    proofs: [
      proof(
        'src/agent/observe/family.test.ts',
        'a host on which nobody manages a link of the node > says what was found',
      ),
      proof(
        'test/namespaces/answer.test.ts',
        'a host without netplan > is told as what it is, and nothing of it is touched',
      ),
    ],
  },
  {
    id: 'RW-83',
    field: 'A port with a lower MAC was attached, and every NIC got another name.',
    by: 'agent',
    holds: 'NICs keep their names, in the plan and, should a plan differ, on the host.',
    proofs: [
      proof(
        'test/namespaces/attach.test.ts',
        'attach > a request that numbers live NICs anew renames none of them',
      ),
      proof(plan, 'a delivered NIC > keeps its name when a port with a lower MAC comes'),
    ],
  },
  {
    id: 'RW-84',
    field:
      'The port with the lowest MAC was detached, and the one that stayed was renamed, with two files.',
    by: 'agent',
    holds: 'The NIC that stays keeps its name, its file and its traffic.',
    proofs: [
      proof(
        'test/namespaces/detach.test.ts',
        'detach > the NIC that stays keeps its name and its traffic',
      ),
      proof(plan, 'a delivered NIC > keeps its name when the one before it is detached'),
    ],
  },
  {
    id: 'RW-85',
    field: 'The last NIC of a node could not be removed.',
    by: 'controller',
    holds: 'No interfaces are what removes all of them.',
    proofs: [
      proof(
        'src/controller/reconcile.test.ts',
        'an object on its way to its node > removes all NICs for an empty list of interfaces',
      ),
      proof(
        'test/e2e/chain.test.ts',
        'the chain on real parts > removes every NIC of a server that leaves vmNames, also the last one; it comes back by its name',
      ),
    ],
  },
  {
    id: 'RW-86',
    field: 'The MTU of a network could not be read, and its NIC was removed from the host.',
    by: 'operator',
    holds: 'The last good MTU stays, and an entry that cannot be used is no removal.',
    proofs: [
      proof(plan, 'a delivered NIC > keeps its MTU while the network cannot be read'),
      proof(
        'src/agent/planning/kept-nics.test.ts',
        'a NIC that the request tells to keep > stays, though it is not among what is asked for',
      ),
    ],
  },
  {
    id: 'RW-87',
    field: 'An id of 0 was left out on the way, and fields came that nobody knew.',
    by: 'viola',
    holds: 'The index is that of the name, and a body with more fields is taken.',
    proofs: [
      proof(
        'src/viola/post-nodes.test.ts',
        'POST node-configs > takes the body of the deployed operator',
      ),
      proof(
        'src/api/accept-interface.test.ts',
        'acceptInterfaces > takes the index of the name when the id is missing',
      ),
    ],
  },
  {
    id: 'RW-88',
    field: 'After a reboot, all NICs of a subnet used the table of one of them.',
    by: 'agent',
    holds: 'Routing is the same before and after a reboot, in every family.',
    proofs: [
      proof(
        'src/agent/backends/netplan.test.ts',
        'netplan > renders one NIC, for a boot that leaves nothing to chance',
      ),
      proof(
        'test/boxes/matrix.test.ts',
        'hosts in boxes > $name: one state in all families, after apply, boot and restart',
      ),
    ],
  },
];
