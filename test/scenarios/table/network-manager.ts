import { proof, type Scenario } from '../scenario.ts';

const boxes = 'test/boxes/matrix.test.ts';
const sameState =
  'hosts in boxes > $name: one state in all families, after apply, boot and restart';

/** NetworkManager, and hosts of Enterprise Linux. */
export const networkManager: readonly Scenario[] = [
  {
    id: 'RW-09',
    field:
      'What nmcli prints for people was misread: prefixes, escaped colons, fields of other versions.',
    by: 'agent',
    holds:
      'Only what ip says as JSON, and files, are read; escapes in a file are no MACs and no names.',
    proofs: [
      proof(
        'src/agent/backends/keyfile-claims.test.ts',
        'a profile of somebody else > is about the NIC that it names, whatever words of nmcli are in it',
      ),
      proof(
        'src/agent/observe/kernel.test.ts',
        '%s tells the same of one host as the version of our image',
      ),
    ],
  },
  {
    id: 'RW-10',
    field:
      'A profile without a MAC was not known again: every look made another NIC, until all names were gone.',
    by: 'agent',
    holds:
      'However often and in whatever order the same is asked for: the same names, and nothing written.',
    proofs: [
      proof(
        'test/property/agent-repeats.test.ts',
        'the same asked for again, in whatever order, has the same names and writes nothing',
      ),
    ],
  },
  {
    id: 'RW-11',
    field: 'Each change of a profile left another file beside it, under another uuid.',
    by: 'agent',
    holds: 'A NIC has one profile by one uuid, however often it is changed.',
    proofs: [
      proof(
        'test/namespaces/names.test.ts',
        'ten changes of a NIC leave its one profile, by one uuid',
      ),
    ],
  },
  {
    id: 'RW-12',
    field: 'A file that somebody deleted, or edited in address, MTU or MAC, stayed as it was.',
    by: 'agent',
    holds: 'A check tells what differs in files and kernel, and the next apply puts it right.',
    proofs: [
      proof(
        'test/namespaces/drift.test.ts',
        'what somebody did to files and NICs by hand is told by a check and put right by an apply: %s',
      ),
      proof(
        'src/controller/check.test.ts',
        'a node that was started anew > is brought back where it differs, and told of as long as it does',
      ),
    ],
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
    proofs: [
      proof(
        'test/namespaces/rollback.test.ts',
        'rollback > a new NIC is as it was when the kernel refuses %s; the others are configured',
      ),
    ],
  },
  {
    id: 'RW-15',
    field: 'Each NIC restarted the network manager, and the primary NIC with it.',
    by: 'agent',
    holds: 'No manager is restarted, and the primary NIC sees no event.',
    proofs: [
      proof(
        'test/namespaces/primary.test.ts',
        'the primary NIC > sees no netlink event while NICs are attached, changed and detached',
      ),
      proof(
        boxes,
        'hosts in boxes > the primary NIC feels nothing of it, and what others have stays',
      ),
    ],
  },
  {
    id: 'RW-16',
    field: 'NICs that are up when they are plugged in counted as in use, all of them.',
    by: 'agent',
    holds:
      'Up alone is no use of a NIC; one that the host leased is told as that, with what to do.',
    proofs: [
      proof(
        'src/agent/planning/refusals.test.ts',
        'a NIC that the host leased > is told as that while another link is the way out',
      ),
      proof(
        'test/namespaces/mid-apply.test.ts',
        'on a host of %s, in the middle of a change > the host leases a NIC: it is told, and neither the lease nor the way out is touched',
      ),
      proof(
        'test/namespaces/rollback.test.ts',
        'a kernel before 6.2 > renames a NIC that is up by way of down',
      ),
    ],
  },
  {
    id: 'RW-17',
    field:
      'A clean-up looked where this generation of the system keeps no files, failed, and left all of them.',
    by: 'agent',
    holds: 'A clean-up removes whatever the family has of ours.',
    proofs: [
      proof(
        'test/namespaces/families.test.ts',
        'a host of NetworkManager, on which netplan is installed too > is configured by the second Job: %s',
      ),
    ],
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
    proofs: [
      proof(
        'src/agent/backends/link-file.test.ts',
        'the file that names a NIC > comes before the one of systemd for all NICs: multinic%i',
      ),
      proof(
        'src/agent/backends/keyfile.test.ts',
        'keyfile > renders one NIC, for a boot that leaves nothing to chance',
      ),
      proof(boxes, sameState),
    ],
  },
];
