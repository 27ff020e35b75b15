import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ip } from '../../../rig/hosts/namespace/command.ts';

/** DHCP server for 10.0.0.0/24 behind a box's NICs, with router 10.0.0.254. */
export async function startDhcp(
  fabric: string,
  options: readonly string[] = [],
): Promise<AsyncDisposable & { readonly pid: number | undefined }> {
  await ip(['-n', fabric, 'addr', 'add', '10.0.0.254/24', 'dev', 'br0']);
  const server = ['dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', '--port=0'];
  const leases = ['--leasefile-ro', '--dhcp-range=10.0.0.50,10.0.0.60,1h', '--interface=br0'];
  const child = spawn('ip', ['netns', 'exec', fabric, ...server, ...leases, ...options], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  return {
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
