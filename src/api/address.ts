import { Address4, Address6 } from 'ip-address';

/** True for an IPv4 address in plain dotted form, without octal, hex or short forms. */
export function isIPv4(text: string): boolean {
  return !text.includes('/') && Address4.isValid(text);
}

/** True for an IPv6 address without prefix and zone. */
export function isIPv6(text: string): boolean {
  // Checked first, because the library creates an error with a stack trace for each invalid text.
  return text.includes(':') && !/[/%]/.test(text) && Address6.isValid(text);
}

/** Returns the family (4 or 6) of an address, with or without prefix. */
export function familyOf(text: string): 4 | 6 {
  return text.includes(':') ? 6 : 4;
}

/** Returns the prefix length for a single address. */
export function hostPrefix(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function parsed(text: string): Address4 | Address6 {
  return familyOf(text) === 4 ? new Address4(text) : new Address6(text);
}

/** Returns the canonical spelling (RFC 5952), as used by kernel tools; an existing prefix is kept. */
export function plainForm(text: string): string {
  if (familyOf(text) === 4) return text;
  const ip = new Address6(ipOf(text)).correctForm();
  return text.includes('/') ? `${ip}/${text.replace(/^.*\//, '')}` : ip;
}

/** True if two networks (`ip/prefix`) share an address; networks in different families never overlap. */
export function overlaps(a: string, b: string): boolean {
  if (familyOf(a) !== familyOf(b)) return false;
  const [x, y] = [parsed(a), parsed(b)];
  return x.subnetMask <= y.subnetMask ? y.isInSubnet(x) : x.isInSubnet(y);
}

/** True if the first network contains the whole second network. */
export function covers(wide: string, cidr: string): boolean {
  return prefixOf(wide) <= prefixOf(cidr) && overlaps(wide, cidr);
}

/** Returns the network in network form: `10.0.0.10/24` gives `10.0.0.0/24`. */
export function networkOf(text: string): string {
  const address = parsed(text);
  return `${address.startAddress().correctForm()}/${address.subnetMask}`;
}

/** Returns the first address of a network as a number. */
export function bitsOf(cidr: string): bigint {
  return parsed(cidr).startAddress().bigInt();
}

/** Returns the network with this first address and prefix length. */
export function networkAt(family: 4 | 6, bits: bigint, prefix: number): string {
  const address = family === 4 ? Address4.fromBigInt(bits) : Address6.fromBigInt(bits);
  return `${address.correctForm()}/${prefix}`;
}

/** Returns the address in `ip/prefix`, without prefix. */
export function ipOf(cidr: string): string {
  return cidr.replace(/\/.*$/, '');
}

/** Returns the prefix length in `ip/prefix`. */
export function prefixOf(cidr: string): number {
  return parsed(cidr).subnetMask;
}

/**
 * Returns the broadcast address for `ip/prefix`; IPv6 networks and networks with one or two addresses (RFC 3021) have
 * none.
 */
export function broadcastOf(cidr: string): string | undefined {
  if (familyOf(cidr) === 6) return undefined;
  const address = new Address4(cidr);
  return address.subnetMask <= 30 ? address.endAddress().correctForm() : undefined;
}

/** True if the network in `ip/prefix` contains the address; never across families. */
export function contains(cidr: string, ip: string): boolean {
  return familyOf(cidr) === familyOf(ip) && parsed(ip).isInSubnet(parsed(cidr));
}
