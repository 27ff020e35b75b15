import type { Scenario } from '../scenario.ts';

/** Files of netplan, and how a change is verified. */
export const files: readonly Scenario[] = [
  {
    id: 'RW-31',
    field:
      'One file that netplan would not parse took the network of the whole node at its next boot.',
    by: 'agent',
    holds: 'No file is written that netplan of any supported version refuses.',
  },
  {
    id: 'RW-32',
    field: 'An entry without an address was tried and rolled back again and again.',
    by: 'controller',
    holds:
      'An entry that cannot be used is refused by its field, once, and its NIC stays as it is.',
  },
  {
    id: 'RW-33',
    field: 'A network was compared with an address, so every look found a difference.',
    by: 'agent',
    holds: 'A second run changes nothing and writes nothing.',
  },
  {
    id: 'RW-34',
    field: 'Another prefix of the same address was taken for no change.',
    by: 'agent',
    holds: 'It is applied, and nothing of the former prefix is left.',
  },
  {
    id: 'RW-35',
    field: 'A file that others can read made netplan warn, and the change was taken back.',
    by: 'agent',
    holds: 'Files are for root alone, those that were there before too.',
  },
  {
    id: 'RW-36',
    field: 'netplan try failed without a terminal, and the fallback was a blind apply.',
    by: 'agent',
    holds:
      'Nothing is tried by netplan: the agent looks at the kernel and undoes what is not as it shall be, all of it when the node lost its way out.',
  },
  {
    id: 'RW-37',
    field: 'A wrong MAC, or a look-up that failed, let live links flap.',
    by: 'agent',
    holds: 'Without the NIC, or without a look at the kernel, no link is touched.',
  },
  {
    id: 'RW-38',
    field: 'A look right after the change found no carrier yet, so looking was given up.',
    by: 'agent',
    holds:
      'The change is verified in the kernel with patience; a carrier that is late is no failure.',
  },
  {
    id: 'RW-39',
    field:
      'Backups at every poll filled the disk; without them a rollback had nothing to go back to.',
    by: 'agent',
    holds:
      'What a change replaces is held until it is verified, and put back byte by byte otherwise. Of what it replaced the last five stay.',
  },
  {
    id: 'RW-40',
    field: 'An MTU that the NIC does not take cost it the configuration that it had.',
    by: 'agent',
    holds:
      'That NIC fails and is as it was; what it can take is asked for before anything is changed.',
  },
];
