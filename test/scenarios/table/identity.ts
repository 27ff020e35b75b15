import { proof, type Scenario } from '../scenario.ts';

const names = 'test/namespaces/names.test.ts';
const plans = 'test/property/agent-plan.test.ts';

/** Orphans, identity, names. */
export const identity: readonly Scenario[] = [
  {
    id: 'RW-20',
    field:
      'A node was named in two ways in two places, and its live files were removed as orphans.',
    by: 'agent',
    holds: 'The node is found by its instance id; the agent goes by no name of a node at all.',
    proofs: [
      proof(
        names,
        'the name of the node > is nothing that the agent goes by: however it is written, what it made stays',
      ),
      proof(
        'src/controller/target.test.ts',
        'findTarget > takes that Node also when its name differs, and says so',
      ),
    ],
  },
  {
    id: 'RW-21',
    field:
      'A file whose link was away counted as an orphan: made, removed and made again, every half minute.',
    by: 'agent',
    holds: 'A NIC that is asked for and not there keeps its file and waits.',
    proofs: [
      proof(
        'test/namespaces/detach.test.ts',
        'detach > a NIC that is unplugged but still asked for keeps its file and its rules',
      ),
    ],
  },
  {
    id: 'RW-22',
    field: 'A port was gone and so was its link, but its file stayed for good.',
    by: 'agent',
    holds:
      'What is asked for no more leaves no file, rule, route or setting, and nothing of others changes.',
    proofs: [
      proof(
        'test/namespaces/detach.test.ts',
        'detach > a NIC that is gone already leaves the same, and no error',
      ),
      proof(
        'test/namespaces/rollback.test.ts',
        'rollback > foreign state is the same before, after a rollback, after apply and after removal',
      ),
      proof(
        'test/namespaces/settings.test.ts',
        'kernel settings of a NIC > are set, kept over a boot, and given back',
      ),
    ],
  },
  {
    id: 'RW-23',
    field: 'Two workers gave two NICs the same name.',
    by: 'agent',
    holds: 'A name is given to one NIC, and there are ten.',
    proofs: [
      proof('src/agent/planning/indexes.test.ts', 'indexes > %s'),
      proof(
        plans,
        'plan of the agent > a name is given away only once at a time, and only ten exist',
      ),
      proof(
        'src/agent/lock.test.ts',
        'the lock of a host > lets a second run wait until the first one has ended',
      ),
    ],
  },
  {
    id: 'RW-24',
    field:
      'The NIC that was asked for was not there, another one had its name, and the status said applied.',
    by: 'agent',
    holds: 'The NIC waits, or is refused because of its name; whoever has the name is left alone.',
    proofs: [
      proof(
        names,
        'the name of a NIC that is not there > is not given to another one, and one of others that has it is left alone',
      ),
    ],
  },
  {
    id: 'RW-25',
    field:
      'A failure was matched by its name, which two entries had, and the wrong NIC was failed.',
    by: 'agent',
    holds:
      'Failures are told of the MAC that they are about, and two entries of one name are refused.',
    proofs: [
      proof(
        'test/namespaces/rollback.test.ts',
        'rollback > a new NIC is as it was when the kernel refuses %s; the others are configured',
      ),
      proof(
        'src/controller/request.test.ts',
        'acceptEntries > refuses both of two entries that claim one name',
      ),
    ],
  },
  {
    id: 'RW-26',
    field: 'A status named a NIC multinicf, after the last digit of its MAC.',
    by: 'agent',
    holds: 'The name in a result is one of the ten and that of the link in the kernel.',
    proofs: [
      proof(
        'test/namespaces/attach.test.ts',
        'attach > a NIC gets name, MTU, address, routes, rule and a file only root can read',
      ),
    ],
  },
  {
    id: 'RW-27',
    field: 'Entries that came, went or changed places gave the others new names.',
    by: 'agent',
    holds:
      'A NIC that is configured and still wanted keeps its name, however the entries are numbered.',
    proofs: [
      proof(
        plans,
        'plan of the agent > a NIC that is configured and still wanted keeps its name, however it is numbered',
      ),
    ],
  },
  {
    id: 'RW-28',
    field: 'Nothing told the next boot about the name: the NIC was ensX again.',
    by: 'agent',
    holds: 'Every file says the name, and the name is the same after a reboot.',
    proofs: [
      proof(
        'src/agent/backends/netplan.test.ts',
        'netplan > renders one NIC, for a boot that leaves nothing to chance',
      ),
      proof(
        'test/boxes/matrix.test.ts',
        'hosts in boxes > $name: one state in all families, after apply, boot and restart',
      ),
      proof(
        'test/e2e/chain.test.ts',
        'the chain on real parts > makes an attached port a named, addressed, routed and persistent NIC',
      ),
    ],
  },
  {
    id: 'RW-29',
    field: 'Files of an earlier generation stayed beside the new ones, for the same NIC.',
    by: 'agent',
    holds: 'Files of any earlier generation for a NIC of ours are migrated, never duplicated.',
    proofs: [
      proof(
        'test/namespaces/takeover.test.ts',
        'a host of the deployed agent > is taken over: what it left is migrated, never duplicated, and foreign rules stay',
      ),
    ],
  },
  {
    id: 'RW-30',
    field:
      'Links called multinicN were left behind without a file, and nobody knew whose they were.',
    by: 'agent',
    holds:
      'A link of which nothing says that it is ours is left alone, up or down, and who needs the name is told; one with traces of ours goes with a clean-up that names it.',
    proofs: [
      proof(
        'test/namespaces/takeover.test.ts',
        'a host of the deployed agent > is left without a trace by a clean-up that names its NICs',
      ),
      proof(
        'test/namespaces/refusals.test.ts',
        'refusals > a name that a link of somebody else has',
      ),
    ],
  },
];
