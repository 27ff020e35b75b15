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

/** Whether two IPv4 networks (`ip/prefix`) share an address. */
export function overlaps(a: string, b: string): boolean {
  const [x, y] = [new Address4(a), new Address4(b)];
  return x.subnetMask <= y.subnetMask ? y.isInSubnet(x) : x.isInSubnet(y);
}

/** The network of an address in network form: `10.0.0.10/24` gives `10.0.0.0/24`. */
export function networkOf(text: string): string {
  const address = new Address4(text);
  return `${address.startAddress().correctForm()}/${address.subnetMask}`;
}

/** The address of `ip/prefix`, without the prefix. */
export function ipOf(cidr: string): string {
  return cidr.replace(/\/.*$/, '');
}

/** The prefix length of `ip/prefix`. */
export function prefixOf(cidr: string): number {
  return new Address4(cidr).subnetMask;
}

/** Broadcast address of the network of `ip/prefix`; networks of one or two addresses have none (RFC 3021). */
export function broadcastOf(cidr: string): string | undefined {
  const address = new Address4(cidr);
  return address.subnetMask <= 30 ? address.endAddress().correctForm() : undefined;
}

/** Whether the address is in the network of `ip/prefix`; one of the other family is not. */
export function contains(cidr: string, ip: string): boolean {
  if (cidr.includes(':') !== ip.includes(':')) return false;
  return ip.includes(':')
    ? new Address6(ip).isInSubnet(new Address6(cidr))
    : new Address4(ip).isInSubnet(new Address4(cidr));
}
