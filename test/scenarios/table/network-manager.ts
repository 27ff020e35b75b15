import type { Scenario } from '../scenario.ts';

/** NetworkManager, and hosts of Enterprise Linux. */
export const networkManager: readonly Scenario[] = [
  {
    id: 'RW-09',
    field:
      'What nmcli prints for people was misread: prefixes, escaped colons, fields of other versions.',
    by: 'agent',
    holds:
      'Only what ip says as JSON, and files, are read; escapes in a file are no MACs and no names.',
  },
  {
    id: 'RW-10',
    field:
      'A profile without a MAC was not known again: every look made another NIC, until all names were gone.',
    by: 'agent',
    holds:
      'However often and in whatever order the same is asked for: the same names, and nothing written.',
  },
  {
    id: 'RW-11',
    field: 'Each change of a profile left another file beside it, under another uuid.',
    by: 'agent',
    holds: 'A NIC has one profile by one uuid, however often it is changed.',
  },
  {
    id: 'RW-12',
    field: 'A file that somebody deleted, or edited in address, MTU or MAC, stayed as it was.',
    by: 'agent',
    holds: 'A check tells what differs in files and kernel, and the next apply puts it right.',
  },
  {
    id: 'RW-13',
    field: 'NetworkManager saw a new profile late: unknown connection, retries, a second profile.',
    outOfScope:
      'the agent asks NetworkManager for no profile: the kernel is changed at once, and the file is read at the next start',
  },
  {
    id: 'RW-14',
    field:
      'A connection was called multinic0, its device was still ens7, and the status said that all was well.',
    by: 'agent',
    holds: "What is told is the kernel's name of the link, whatever the file is called.",
  },
  {
    id: 'RW-15',
    field: 'Each NIC restarted the network manager, and the primary NIC with it.',
    by: 'agent',
    holds: 'No manager is restarted, and the primary NIC sees no event.',
  },
  {
    id: 'RW-16',
    field: 'NICs that are up when they are plugged in counted as in use, all of them.',
    by: 'agent',
    holds:
      'Up alone is no use of a NIC; one that the host leased is told as that, with what to do.',
  },
  {
    id: 'RW-17',
    field:
      'A clean-up looked where this generation of the system keeps no files, failed, and left all of them.',
    by: 'agent',
    holds: 'A clean-up removes whatever the family has of ours.',
  },
  {
    id: 'RW-18',
    field: 'SELinux kept managers from files that had the label of the container.',
    outOfScope:
      'nothing is proven with SELinux in enforcing mode: no machine of the tests has it (docs/support.md)',
  },
  {
    id: 'RW-19',
    field: 'After a reboot the NIC had its old name, or its profile was ignored for its mode.',
    by: 'agent',
    holds:
      'A file for udev names the NIC before any other does, and the profile is for root alone.',
  },
];
