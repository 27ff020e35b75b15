import { contains, isIPv4, isIPv6 } from '../api/address.ts';
import type { NodeView } from '../api/read-http.ts';

/** A foreign address on a link, as the agent's message about NICInUse names both. */
export interface ForeignAddress {
  readonly address: string;
  readonly link: string;
}

/**
 * Returns the foreign address and the link; undefined: the message is about a bridge, a route or an upper device. The
 * link is the first valid kernel name outside the sentence's own words.
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

/** Warning about a node's boot files. */
export interface BootWarning {
  readonly reason: 'NotPersistent' | 'FilesLeft';
  /** NIC name for NotPersistent, path for FilesLeft. */
  readonly subject: string;
  /** Warning text from the agent. */
  readonly text: string;
}

/** Returns a node's boot file warnings: a ready node's message contains the agent's warnings. */
export function bootWarningsOf({ message, object }: NodeView): readonly BootWarning[] {
  const ready = object?.conditions.find(({ type }) => type === 'Ready');
  return bootWarningsIn(ready?.message ?? message);
}

function bootWarningsIn(message: string): readonly BootWarning[] {
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
