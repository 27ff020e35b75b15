import { contains, isIPv4, isIPv6 } from '../api/address.ts';

/** A foreign address on a link, as the agent's message about NICInUse names both. */
export interface ForeignAddress {
  readonly address: string;
  readonly link: string;
}

/**
 * Returns the foreign address and its link; undefined: the message names another user of the link. The link is the
 * first word that the kernel would accept as a name and that the sentence does not need.
 */
export function foreignAddressIn(message: string): ForeignAddress | undefined {
  if (!/\baddress\b/.test(message)) return undefined;
  const words = message.split(/[\s,;:]+/);
  const address = words.find(isCidr);
  const link = words.find((word) => /^[\w.@+-]{1,15}$/.test(word) && !sentenceWords.has(word));
  return address === undefined || link === undefined ? undefined : { address, link };
}

const sentenceWords: ReadonlySet<string> = new Set([
  'a',
  'address',
  'foreign',
  'has',
  'link',
  'on',
  'the',
]);

function isCidr(word: string): boolean {
  const [ip = '', prefix = ''] = word.split('/');
  if (!/^\d{1,3}$/.test(prefix) || !(isIPv4(ip) || isIPv6(ip))) return false;
  return contains(word, ip);
}

/** Warning about the boot files of a node. */
export interface BootWarning {
  readonly reason: 'NotPersistent' | 'FilesLeft';
  /** Name of the NIC for NotPersistent, path for FilesLeft. */
  readonly subject: string;
  /** The warning as the agent reported it. */
  readonly text: string;
}

/** Returns the warnings about boot files in the message of the condition Ready. */
export function bootWarningsIn(message: string): readonly BootWarning[] {
  const found = message.matchAll(/\b(NotPersistent|FilesLeft) ([^\s,;]+)/g);
  return [...found].map((match) => {
    const [, reason, subject = ''] = match;
    const rest = message.slice(match.index).split(/, (?=[A-Z]\w+ )|; /)[0] ?? '';
    return { reason: reason as BootWarning['reason'], subject, text: rest };
  });
}

/** True if the warning is about this NIC. */
export function isAbout({ reason, subject }: BootWarning, nic: string): boolean {
  return reason === 'NotPersistent' ? subject === nic : subject.includes(nic);
}
