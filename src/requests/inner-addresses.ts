import { lookup as lookUp } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** A place inside the machine or beside it, that nobody may be sent to by what somebody else wrote. */
export class InnerAddress extends Error {
  override readonly name = 'InnerAddress';
}

const kinds: readonly (readonly [kind: string, networks: readonly string[]])[] = [
  ['a loopback address', ['127.0.0.0/8', '::1/128']],
  // Linux takes them for the machine itself.
  ['an unspecified address', ['0.0.0.0/8', '::/128']],
  ['a link-local address', ['169.254.0.0/16', 'fe80::/10']],
  ['the metadata service of a cloud', ['fd00:ec2::254/128']],
];
// How IPv4 addresses are written in IPv6: compatible, and by NAT64 (RFC 6052). The mapped form BlockList knows itself.
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

/** What is wrong with an address, or with the host of a URL that is one; undefined = nothing, or it is a name. */
export function innerKindOf(host: string): string | undefined {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  if (family === 0) return undefined;
  return lists.find(({ list }) => list.check(address, family === 6 ? 'ipv6' : 'ipv4'))?.kind;
}

/** Looks names up, and refuses one of which any address is an inner one. What was judged is what is connected to. */
export function lookupOutside(resolve: LookupFunction = lookUp): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, options, (error, found, family) => {
      const addresses =
        typeof found === 'string' ? [found] : (found ?? []).map((one) => one.address);
      const inner = addresses.find((address) => innerKindOf(address) !== undefined);
      if (inner === undefined) callback(error, found, family);
      else callback(new InnerAddress(`the host is at ${inner}, ${innerKindOf(inner)}`), []);
    });
  };
}
