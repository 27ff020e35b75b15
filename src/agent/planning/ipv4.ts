import { Address4 } from 'ip-address';

/** The address of `ip/prefix`, without the prefix. */
export function ipOf(cidr: string): string {
  return cidr.replace(/\/.*$/, '');
}

/** The prefix length of `ip/prefix`. */
export function prefixOf(cidr: string): number {
  return new Address4(cidr).subnetMask;
}

/** The network that `ip/prefix` is in: 10.0.0.7/24 is in 10.0.0.0/24. */
export function networkOf(cidr: string): string {
  const address = new Address4(cidr);
  return `${address.startAddress().correctForm()}/${address.subnetMask}`;
}

/** Broadcast address of the network of `ip/prefix`; networks of one or two addresses have none (RFC 3021). */
export function broadcastOf(cidr: string): string | undefined {
  const address = new Address4(cidr);
  return address.subnetMask <= 30 ? address.endAddress().correctForm() : undefined;
}

/** Whether the IPv4 address is in the network of `ip/prefix`. */
export function contains(cidr: string, ip: string): boolean {
  return new Address4(ip).isInSubnet(new Address4(cidr));
}
