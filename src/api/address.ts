import { Address4, Address6 } from 'ip-address';
import * as z from 'zod';

/** True for an IPv4 address in plain dotted form, without octal, hex or short forms. */
export function isIPv4(text: string): boolean {
  return z.regexes.ipv4.test(text);
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

/** IPv4 network as numbers: the address, and its number of addresses as a power of two. */
interface Network4 {
  readonly address: number;
  readonly prefix: number;
  readonly size: number;
}

/**
 * Parses IPv4 addresses with or without prefix; undefined for any further text. Accepting a NIC parses ten addresses, and
 * the library needs five times as long.
 */
function network4(text: string): Network4 | undefined {
  const slash = text.indexOf('/');
  const ip = slash < 0 ? text : text.slice(0, slash);
  const length = slash < 0 ? '32' : text.slice(slash + 1);
  if (!isIPv4(ip) || !/^(\d|[12]\d|3[0-2])$/.test(length)) return undefined;
  const address = ip.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  const prefix = Number(length);
  return { address, prefix, size: 2 ** (32 - prefix) };
}

function first4({ address, size }: Network4): number {
  return address - (address % size);
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
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
  const [one, other] = [network4(a), network4(b)];
  if (one && other) return overlap4(one, other);
  const [x, y] = [parsed(a), parsed(b)];
  return x.subnetMask <= y.subnetMask ? y.isInSubnet(x) : x.isInSubnet(y);
}

function overlap4(one: Network4, other: Network4): boolean {
  const size = Math.max(one.size, other.size);
  return Math.floor(one.address / size) === Math.floor(other.address / size);
}

/** True if the first network contains the whole second network. */
export function covers(wide: string, cidr: string): boolean {
  return prefixOf(wide) <= prefixOf(cidr) && overlaps(wide, cidr);
}

/** Returns the network in network form: `10.0.0.10/24` gives `10.0.0.0/24`. */
export function networkOf(text: string): string {
  const ipv4 = network4(text);
  if (ipv4) return `${dotted(first4(ipv4))}/${ipv4.prefix}`;
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
  return network4(cidr)?.prefix ?? parsed(cidr).subnetMask;
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
  if (familyOf(cidr) !== familyOf(ip)) return false;
  const [network, address] = [network4(cidr), network4(ip)];
  if (!network || !address) return parsed(ip).isInSubnet(parsed(cidr));
  return address.prefix >= network.prefix && overlap4(network, address);
}
