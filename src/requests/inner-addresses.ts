import { lookup as lookUp } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Error: an address in or beside this machine (SSRF); user-supplied URLs must not lead there. */
export class InnerAddress extends Error {
  override readonly name = 'InnerAddress';
}

const kinds: readonly (readonly [kind: string, networks: readonly string[]])[] = [
  ['a loopback address', ['127.0.0.0/8', '::1/128']],
  // Linux routes unspecified addresses to the machine itself.
  ['an unspecified address', ['0.0.0.0/8', '::/128']],
  ['a link-local address', ['169.254.0.0/16', 'fe80::/10']],
  ['the metadata service of a cloud', ['fd00:ec2::254/128']],
];
// IPv4 embedded in IPv6: compatible, and NAT64 (RFC 6052). BlockList handles the mapped form itself.
const embedded = ['::', '64:ff9b::'];

const lists = kinds.map(([kind, networks]) => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix = ''] = network.split('/');
    if (isIP(address) === 6) list.addSubnet(address, Number(prefix), 'ipv6');
    else {
      list.addSubnet(address, Number(prefix), 'ipv4');
      for (const before of embedded)
        list.addSubnet(`${before}${address}`, 96 + Number(prefix), 'ipv6');
    }
  }
  return { kind, list };
});

/** Returns the inner address kind for an address or URL host; undefined = outside address, or a name. */
export function innerKindOf(host: string): string | undefined {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  if (family === 0) return undefined;
  return lists.find(({ list }) => list.check(address, family === 6 ? 'ipv6' : 'ipv4'))?.kind;
}

/**
 * Returns a lookup function that refuses names with any inner address. The checked addresses are those connected to.
 */
export function lookupOutside(resolve: LookupFunction = lookUp): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, options, (error, found, family) => {
      const addresses =
        typeof found === 'string' ? [found] : (found ?? []).map((one) => one.address);
      const inner = addresses.find((address) => innerKindOf(address) !== undefined);
      if (inner === undefined) callback(error, found, family);
      else callback(new InnerAddress(`the host resolves to ${inner}, ${innerKindOf(inner)}`), []);
    });
  };
}
