import type { Scenario } from '../scenario.ts';

/** Between a container and the host whose network it changes. */
export const hostBoundary: readonly Scenario[] = [
  {
    id: 'RW-01',
    field: 'A tool that the agent calls was not in its image, and every node failed half-way.',
    by: 'agent',
    holds:
      'Without the one tool that it needs, or with one that is too old, it says so and touches nothing.',
  },
  {
    id: 'RW-02',
    field: "The host's folders were mounted read-only: the NIC was changed and no file written.",
    by: 'agent',
    holds: 'A NIC whose files cannot be written fails with PersistFailed, and is as it was.',
  },
  {
    id: 'RW-03',
    field: "A file was made in the container's own /tmp, where nothing of the host finds it.",
    by: 'agent',
    holds: 'A file grows beside its place and is renamed; a crash before that leaves the old one.',
  },
  {
    id: 'RW-04',
    field: 'A folder was not mounted: the file went into the container and was gone with it.',
    by: 'agent',
    holds:
      "Whatever a family writes is below a mount of the host, and the container's own root is read-only: a file is on the host or was refused.",
  },
  {
    id: 'RW-05',
    field: "The container's own system was taken for that of the host.",
    by: 'agent',
    holds:
      "What manages the host's network is found on the host; a Job for another family, and a host that nobody knows, is told and nothing is touched.",
  },
  {
    id: 'RW-06',
    field:
      'A folder that had to be there kept Pods from starting; made everywhere, it misled other systems.',
    by: 'controller',
    holds:
      'Each family has its own folders; those that may be missing are made, and none of another manager that outlives a boot.',
  },
  {
    id: 'RW-07',
    field: 'An error in the removal of old NICs ended the run before new ones were configured.',
    by: 'agent',
    holds: 'What cannot be removed, or brought to its end, is told; the other NICs are served.',
  },
  {
    id: 'RW-08',
    field: 'NetworkManager could not be asked from a Pod, or only now and then.',
    by: 'agent',
    holds: 'Hosts of NetworkManager are configured by the kernel and by files alone.',
  },
];
