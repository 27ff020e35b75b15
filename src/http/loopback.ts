import { isIPv4 } from 'node:net';

/** Whether a host is this machine itself, also in the form in which a dual-stack socket shows IPv4 (`::ffff:127.0.0.1`). */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  if (address === 'localhost' || address === '::1') return true;
  const ipv4 = address.replace(/^::ffff:/, '');
  return isIPv4(ipv4) && ipv4.startsWith('127.');
}
