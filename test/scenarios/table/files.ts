import { proof, type Scenario } from '../scenario.ts';

/** Files of netplan, and how a change is verified. */
export const files: readonly Scenario[] = [
  {
    id: 'RW-31',
    field:
      'One file that netplan would not parse took the network of the whole node at its next boot.',
    by: 'agent',
    holds: 'No file is written that netplan of any supported version refuses.',
    proofs: [
      proof(
        'src/agent/backends/netplan.test.ts',
        'netplan > renders no route that netplan 0.101 does not know: each has a next hop or the scope of the link',
      ),
      proof(
        'test/e2e/chain.test.ts',
        'the chain on real parts > writes a file that netplan accepts, readable by root alone',
      ),
    ],
  },
  {
    id: 'RW-32',
    field: 'An entry without an address was tried and rolled back again and again.',
    by: 'controller',
    holds:
      'An entry that cannot be used is refused by its field, once, and its NIC stays as it is.',
    proofs: [
      proof(
        'src/controller/request.test.ts',
        'acceptEntries > refuses an entry whose %s is %j, once and by that field, and keeps its NIC',
      ),
      proof(
        'src/controller/reconcile.test.ts',
        'an object on its way to its node > keeps the NIC of an entry that cannot be used',
      ),
    ],
  },
  {
    id: 'RW-33',
    field: 'A network was compared with an address, so every look found a difference.',
    by: 'agent',
    holds: 'A second run changes nothing and writes nothing.',
    proofs: [
      proof(
        'test/namespaces/attach.test.ts',
        'attach > a second run changes nothing and writes nothing but its result',
      ),
    ],
  },
  {
    id: 'RW-34',
    field: 'Another prefix of the same address was taken for no change.',
    by: 'agent',
    holds: 'It is applied, and nothing of the former prefix is left.',
    proofs: [
      proof(
        'test/namespaces/same-subnet.test.ts',
        'another prefix of the same address replaces the one before, and nothing of that is left',
      ),
    ],
  },
  {
    id: 'RW-35',
    field: 'A file that others can read made netplan warn, and the change was taken back.',
    by: 'agent',
    holds: 'Files are for root alone, those that were there before too.',
    proofs: [
      proof(
        'src/agent/planning/plan-apply.test.ts',
        'the plan > writes a file again that others can read',
      ),
      proof('src/agent/apply/disk.test.ts', 'files > are written for root alone'),
    ],
  },
  {
    id: 'RW-36',
    field: 'netplan try failed without a terminal, and the fallback was a blind apply.',
    by: 'agent',
    holds:
      'Nothing is tried by netplan: the agent looks at the kernel and undoes what is not as it shall be, all of it when the node lost its way out.',
    proofs: [
      proof(
        'test/property/agent-answer.test.ts',
        'a run of the agent > undoes everything when the node itself lost its way out',
      ),
    ],
  },
  {
    id: 'RW-37',
    field: 'A wrong MAC, or a look-up that failed, let live links flap.',
    by: 'agent',
    holds: 'Without the NIC, or without a look at the kernel, no link is touched.',
    proofs: [
      proof(
        'test/namespaces/names.test.ts',
        'the name of a NIC that is not there > is not given to another one, and one of others that has it is left alone',
      ),
      proof(
        'test/namespaces/odd-ip.test.ts',
        'an ip that %s is told with each NIC, and nothing is touched',
      ),
    ],
  },
  {
    id: 'RW-38',
    field: 'A look right after the change found no carrier yet, so looking was given up.',
    by: 'agent',
    holds:
      'The change is verified in the kernel with patience; a carrier that is late is no failure.',
    proofs: [
      proof(
        'test/namespaces/same-subnet.test.ts',
        'a NIC without a carrier is configured, and works as soon as it has one',
      ),
      proof(
        'test/property/agent-contested.test.ts',
        'a NIC that comes up > is brought on when networkd drops its address in the middle of the change',
      ),
    ],
  },
  {
    id: 'RW-39',
    field:
      'Backups at every poll filled the disk; without them a rollback had nothing to go back to.',
    by: 'agent',
    holds:
      'What a change replaces is held until it is verified, and put back byte by byte otherwise. Of what it replaced the last five stay.',
    proofs: [
      proof(
        'test/namespaces/rollback.test.ts',
        'rollback > a NIC in use keeps its old address, routes and file when its update fails',
      ),
      proof('test/namespaces/detach.test.ts', 'detach > nothing is left in hand'),
      proof(
        'src/agent/apply/backup.test.ts',
        'a backup > is one of the last few of its file; others in the folder stay',
      ),
    ],
  },
  {
    id: 'RW-40',
    field: 'An MTU that the NIC does not take cost it the configuration that it had.',
    by: 'agent',
    holds:
      'That NIC fails and is as it was; what it can take is asked for before anything is changed.',
    proofs: [
      proof('src/agent/planning/refusals.test.ts', 'a NIC is refused > %s'),
      proof(
        'test/namespaces/rollback.test.ts',
        'rollback > a new NIC is as it was when the kernel refuses %s; the others are configured',
      ),
    ],
  },
];
