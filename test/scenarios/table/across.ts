import type { Scenario } from '../scenario.ts';

/** The database of the first generation, and what one part does to another. */
export const across: readonly Scenario[] = [
  {
    id: 'RW-80',
    field: 'A column had another name than the query, and nobody said which.',
    by: 'inventory',
    holds: 'Tables of another form are named, and not touched.',
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
  },
  {
    id: 'RW-83',
    field: 'A port with a lower MAC was attached, and every NIC got another name.',
    by: 'agent',
    holds: 'NICs keep their names, in the plan and, should a plan differ, on the host.',
  },
  {
    id: 'RW-84',
    field:
      'The port with the lowest MAC was detached, and the one that stayed was renamed, with two files.',
    by: 'agent',
    holds: 'The NIC that stays keeps its name, its file and its traffic.',
  },
  {
    id: 'RW-85',
    field: 'The last NIC of a node could not be removed.',
    by: 'controller',
    holds: 'No interfaces are what removes all of them.',
  },
  {
    id: 'RW-86',
    field: 'The MTU of a network could not be read, and its NIC was removed from the host.',
    by: 'operator',
    holds: 'The last good MTU stays, and an entry that cannot be used is no removal.',
  },
  {
    id: 'RW-87',
    field: 'An id of 0 was left out on the way, and fields came that nobody knew.',
    by: 'viola',
    holds: 'The index is that of the name, and a body with more fields is taken.',
  },
  {
    id: 'RW-88',
    field: 'After a reboot, all NICs of a subnet used the table of one of them.',
    by: 'agent',
    holds: 'Routing is the same before and after a reboot, in every family.',
  },
];
