import type { Scenario } from '../scenario.ts';

/** Orphans, identity, names. */
export const identity: readonly Scenario[] = [
  {
    id: 'RW-20',
    field:
      'A node was named in two ways in two places, and its live files were removed as orphans.',
    by: 'agent',
    holds: 'The node is found by its instance id; the agent goes by no name of a node at all.',
  },
  {
    id: 'RW-21',
    field:
      'A file whose link was away counted as an orphan: made, removed and made again, every half minute.',
    by: 'agent',
    holds: 'A NIC that is asked for and not there keeps its file and waits.',
  },
  {
    id: 'RW-22',
    field: 'A port was gone and so was its link, but its file stayed for good.',
    by: 'agent',
    holds:
      'What is asked for no more leaves no file, rule, route or setting, and nothing of others changes.',
  },
  {
    id: 'RW-23',
    field: 'Two workers gave two NICs the same name.',
    by: 'agent',
    holds: 'A name is given to one NIC, and there are ten.',
  },
  {
    id: 'RW-24',
    field:
      'The NIC that was asked for was not there, another one had its name, and the status said applied.',
    by: 'agent',
    holds: 'The NIC waits, or is refused because of its name; whoever has the name is left alone.',
  },
  {
    id: 'RW-25',
    field:
      'A failure was matched by its name, which two entries had, and the wrong NIC was failed.',
    by: 'agent',
    holds:
      'Failures are told of the MAC that they are about, and two entries of one name are refused.',
  },
  {
    id: 'RW-26',
    field: 'A status named a NIC multinicf, after the last digit of its MAC.',
    by: 'agent',
    holds: 'The name in a result is one of the ten and that of the link in the kernel.',
  },
  {
    id: 'RW-27',
    field: 'Entries that came, went or changed places gave the others new names.',
    by: 'agent',
    holds:
      'A NIC that is configured and still wanted keeps its name, however the entries are numbered.',
  },
  {
    id: 'RW-28',
    field: 'Nothing told the next boot about the name: the NIC was ensX again.',
    by: 'agent',
    holds: 'Every file says the name, and the name is the same after a reboot.',
  },
  {
    id: 'RW-29',
    field: 'Files of an earlier generation stayed beside the new ones, for the same NIC.',
    by: 'agent',
    holds: 'Files of any earlier generation for a NIC of ours are migrated, never duplicated.',
  },
  {
    id: 'RW-30',
    field:
      'Links called multinicN were left behind without a file, and nobody knew whose they were.',
    by: 'agent',
    holds:
      'A link of which nothing says that it is ours is left alone, up or down, and who needs the name is told; one with traces of ours goes with a clean-up that names it.',
  },
];
