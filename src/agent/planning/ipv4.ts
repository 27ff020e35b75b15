import { Address4 } from 'ip-address';

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

/** Whether the IPv4 address is in the network of `ip/prefix`. */
export function contains(cidr: string, ip: string): boolean {
  return new Address4(ip).isInSubnet(new Address4(cidr));
}
