import { proof, type Scenario } from '../scenario.ts';

const boundary = 'src/api/host-mounts.test.ts';

/** Between a container and the host whose network it changes. */
export const hostBoundary: readonly Scenario[] = [
  {
    id: 'RW-01',
    field: 'A tool that the agent calls was not in its image, and every node failed half-way.',
    by: 'agent',
    holds:
      'Without the one tool that it needs, or with one that is too old, it says so and touches nothing.',
    proofs: [
      proof(
        'test/namespaces/odd-ip.test.ts',
        'an ip that %s is told with each NIC, and nothing is touched',
      ),
      proof(
        'test/integration/images.test.ts',
        'the agent’s image has an ip that finds its libraries',
      ),
    ],
  },
  {
    id: 'RW-02',
    field: "The host's folders were mounted read-only: the NIC was changed and no file written.",
    by: 'agent',
    holds: 'A NIC whose files cannot be written fails with PersistFailed, and is as it was.',
    proofs: [
      proof(
        'test/namespaces/rollback.test.ts',
        'a file system that has become read-only > at %s changes nothing, and needs no restart',
      ),
    ],
  },
  {
    id: 'RW-03',
    field: "A file was made in the container's own /tmp, where nothing of the host finds it.",
    by: 'agent',
    holds: 'A file grows beside its place and is renamed; a crash before that leaves the old one.',
    proofs: [
      proof(
        'src/agent/apply/disk.test.ts',
        'a file that is %s > is not to be seen until the commit',
      ),
      proof(
        'test/namespaces/crash.test.ts',
        'a crash > %s any external write leaves each NIC fully old or fully new, and the next run finishes',
      ),
    ],
  },
  {
    id: 'RW-04',
    field: 'A folder was not mounted: the file went into the container and was gone with it.',
    by: 'agent',
    holds:
      "Whatever a family writes is below a mount of the host, and the container's own root is read-only: a file is on the host or was refused.",
    proofs: [
      proof(
        'src/agent/backends/backends.test.ts',
        'the Pod for $name > can write all files of NIC %i',
      ),
      proof(
        'src/controller/job.test.ts',
        'the Job of a run > gives the agent NET_ADMIN and nothing else',
      ),
    ],
  },
  {
    id: 'RW-05',
    field: "The container's own system was taken for that of the host.",
    by: 'agent',
    holds:
      "What manages the host's network is found on the host; a Job for another family, and a host that nobody knows, is told and nothing is touched.",
    proofs: [
      proof(
        'test/namespaces/answer.test.ts',
        'a Job that was made for another family > is told which one the host is of, and touches nothing',
      ),
      proof(
        'test/namespaces/answer.test.ts',
        'a host without netplan > is told as what it is, and nothing of it is touched',
      ),
      proof(
        'src/controller/other-family.test.ts',
        'a node of another family than was guessed > is configured by the second agent at once: %s',
      ),
    ],
  },
  {
    id: 'RW-06',
    field:
      'A folder that had to be there kept Pods from starting; made everywhere, it misled other systems.',
    by: 'controller',
    holds:
      'Each family has its own folders; those that may be missing are made, and none of another manager that outlives a boot.',
    proofs: [
      proof(
        boundary,
        'the Pod for %s > names each volume once, and makes no folder of another manager that outlives the boot',
      ),
      proof(boundary, 'the Pod for %s > starts on a host of any family, to say which one that is'),
      proof(
        'src/controller/other-family.test.ts',
        'a node of another family than was guessed > gets no folder of a manager that its system does not have',
      ),
    ],
  },
  {
    id: 'RW-07',
    field: 'An error in the removal of old NICs ended the run before new ones were configured.',
    by: 'agent',
    holds: 'What cannot be removed, or brought to its end, is told; the other NICs are served.',
    proofs: [
      proof(
        'test/property/agent-answer.test.ts',
        'a run of the agent > that cannot end what an earlier one left in hand says so, and serves the other NICs',
      ),
      proof(
        'test/namespaces/rollback.test.ts',
        'rollback > a removal that fails leaves the NIC configured',
      ),
    ],
  },
  {
    id: 'RW-08',
    field: 'NetworkManager could not be asked from a Pod, or only now and then.',
    by: 'agent',
    holds: 'Hosts of NetworkManager are configured by the kernel and by files alone.',
    proofs: [
      proof(
        'test/namespaces/families.test.ts',
        'a host of NetworkManager, on which netplan is installed too > is configured by the second Job: %s',
      ),
    ],
  },
];
