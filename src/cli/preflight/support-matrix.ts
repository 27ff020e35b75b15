/** How tests of this repository prove a system; the rows of docs/support.md. */
export type Proof = 'proven' | 'files' | 'none';

interface System {
  /** Beginning of `status.nodeInfo.osImage`, PRETTY_NAME in os-release(5). */
  readonly osImage: RegExp;
  readonly proof: Proof;
  /** System as in docs/support.md. */
  readonly row: string;
}

export const systems: readonly System[] = [
  { osImage: /^Debian GNU\/Linux 12\b/, proof: 'proven', row: 'Debian 12' },
  { osImage: /^Debian GNU\/Linux 11\b/, proof: 'proven', row: 'Debian 11' },
  { osImage: /^Debian GNU\/Linux 13\b/, proof: 'proven', row: 'Debian 13' },
  { osImage: /^Ubuntu (18|20|22|24)\.04\b/, proof: 'files', row: 'Ubuntu 18.04 to 24.04' },
  {
    osImage: /^(Rocky Linux|AlmaLinux|Red Hat Enterprise Linux) (9|10)\b/,
    proof: 'files',
    row: 'Rocky, Alma, Red Hat Enterprise Linux 9 and 10',
  },
  {
    osImage: /^(Rocky Linux|AlmaLinux|Red Hat Enterprise Linux) 8\b/,
    proof: 'files',
    row: 'Rocky, Alma, Red Hat Enterprise Linux 8 and 9',
  },
  {
    osImage: /^(CentOS Linux|Red Hat Enterprise Linux( Server)?) 7\b/,
    proof: 'none',
    row: 'CentOS 7, Red Hat Enterprise Linux 7',
  },
];

/** Returns the proof for an OS image; undefined: the support matrix lacks the system. */
export function proofOf(osImage: string): Proof | undefined {
  return systems.find((system) => system.osImage.test(osImage))?.proof;
}
