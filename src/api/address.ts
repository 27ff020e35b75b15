import { Address4 } from 'ip-address';

/** Whether the text is an IPv4 address in plain dotted form: no octal, hex or short forms. */
export function isIPv4(text: string): boolean {
  return !text.includes('/') && Address4.isValid(text);
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
