import { Address4, Address6 } from 'ip-address';

/** Whether the text is an IPv4 address in plain dotted form: no octal, hex or short forms. */
export function isIPv4(text: string): boolean {
  return !text.includes('/') && Address4.isValid(text);
}

/** Whether the text is an IPv6 address: no prefix, no zone. */
export function isIPv6(text: string): boolean {
  // The library makes an error, with its stack, of every text that is none.
  return text.includes(':') && !/[/%]/.test(text) && Address6.isValid(text);
}

/** 4 or 6: the family of an address, with a prefix or without. */
export function familyOf(text: string): 4 | 6 {
  return text.includes(':') ? 6 : 4;
}

/** The length of a prefix that has one address in it. */
export function hostPrefix(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

function parsed(text: string): Address4 | Address6 {
  return familyOf(text) === 4 ? new Address4(text) : new Address6(text);
}

/**
 * The address, with its prefix if it has one, in the one form that all its spellings share (RFC 5952), which is also how the
 * kernel's tools write it.
 */
export function plainForm(text: string): string {
  if (familyOf(text) === 4) return text;
  const ip = new Address6(ipOf(text)).correctForm();
  return text.includes('/') ? `${ip}/${text.replace(/^.*\//, '')}` : ip;
}

/** Whether two networks (`ip/prefix`) share an address; those of two families do not. */
export function overlaps(a: string, b: string): boolean {
  if (familyOf(a) !== familyOf(b)) return false;
  const [x, y] = [parsed(a), parsed(b)];
  return x.subnetMask <= y.subnetMask ? y.isInSubnet(x) : x.isInSubnet(y);
}

/** The network of an address in network form: `10.0.0.10/24` gives `10.0.0.0/24`. */
export function networkOf(text: string): string {
  const address = parsed(text);
  return `${address.startAddress().correctForm()}/${address.subnetMask}`;
}

/** The address of `ip/prefix`, without the prefix. */
export function ipOf(cidr: string): string {
  return cidr.replace(/\/.*$/, '');
}

/** The prefix length of `ip/prefix`. */
export function prefixOf(cidr: string): number {
  return parsed(cidr).subnetMask;
}

/** Broadcast address of the network of `ip/prefix`; networks of one or two addresses (RFC 3021) and of IPv6 have none. */
export function broadcastOf(cidr: string): string | undefined {
  if (familyOf(cidr) === 6) return undefined;
  const address = new Address4(cidr);
  return address.subnetMask <= 30 ? address.endAddress().correctForm() : undefined;
}

/** Whether the address is in the network of `ip/prefix`; one of the other family is not. */
export function contains(cidr: string, ip: string): boolean {
  return familyOf(cidr) === familyOf(ip) && parsed(ip).isInSubnet(parsed(cidr));
}
