import { isIPv4 } from 'node:net';

/** Returns true for loopback hosts, also in IPv4-mapped form from a dual-stack socket (`::ffff:127.0.0.1`). */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (address === 'localhost' || address === '::1') return true;
  const ipv4 = address.replace(/^::ffff:/, '');
  return isIPv4(ipv4) && ipv4.startsWith('127.');
}
