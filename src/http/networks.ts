import { isIPv4, isIPv6 } from 'node:net';

/** An IP network: addresses with common leading bits. */
export interface Network {
  readonly family: 4 | 6;
  readonly bits: bigint;
  readonly prefix: number;
}

/** Parses a network such as `10.0.0.0/8` or `fd00::/8`; returns an error sentence if invalid. */
export function networkIn(text: string): Network | string {
  const [ip = '', prefixText, ...more] = text.split('/');
  const address = addressIn(ip);
  if (!address) return `"${text}" is not a network; write one such as 10.0.0.0/8 or fd00::/8`;
  if (isMapped(ip) || holdsMapped(address))
    return `"${text}" is an IPv4-mapped network: write it in IPv4 form`;
  const width = widths[address.family];
  if (prefixText === undefined || more.length > 0) {
    return `"${text}" has no prefix length; one address is ${ip}/${width}`;
  }
  const prefix = Number(prefixText);
  if (!/^\d{1,3}$/.test(prefixText) || prefix > width) {
    return `"${text}" has a prefix length that is not between 0 and ${width}`;
  }
  const network = { ...address, prefix };
  // A typo in a single address must not open its whole network.
  if (shared(network.bits, network) << BigInt(width - prefix) !== network.bits) {
    return `"${text}" has host bits set: write the network, or ${ip}/${width} for the address alone`;
  }
  return network;
}

/**
 * Returns true if the network contains the address, also in IPv4-mapped form from a dual-stack socket
 * (`::ffff:10.0.0.1`).
 */
export function isIn(network: Network, text: string): boolean {
  const address = addressIn(text);
  return (
    address?.family === network.family &&
    shared(address.bits, network) === shared(network.bits, network)
  );
}

const widths = { 4: 32, 6: 128 } as const;

function shared(bits: bigint, { family, prefix }: Network): bigint {
  return bits >> BigInt(widths[family] - prefix);
}

function isMapped(text: string): boolean {
  return /^::ffff:/i.test(text);
}

/** Returns true for IPv4-mapped addresses in any notation. */
function holdsMapped({ family, bits }: Pick<Network, 'family' | 'bits'>): boolean {
  return family === 6 && bits >> 32n === 0xffffn;
}

function addressIn(text: string): Pick<Network, 'family' | 'bits'> | undefined {
  const [plain = ''] = text.split('%'); // fe80::1%eth0
  const ipv4 = isMapped(plain) && isIPv4(plain.slice(7)) ? plain.slice(7) : plain;
  if (isIPv4(ipv4)) return { family: 4, bits: joined(ipv4.split('.').map(Number), 8n) };
  if (!isIPv6(plain)) return undefined;
  return { family: 6, bits: joined(groupsOf(plain), 16n) };
}

/** Returns an IPv6 address as eight groups. */
function groupsOf(text: string): number[] {
  const [head = [], tail] = text.split('::').map((part) => part.split(':').flatMap(groups));
  if (!tail) return head;
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** Parses a part between colons; the last part may be in IPv4 form. */
function groups(part: string): number[] {
  if (part === '') return [];
  if (!isIPv4(part)) return [Number.parseInt(part, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((bits, part) => (bits << width) | BigInt(part), 0n);
}
