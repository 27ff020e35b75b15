import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toolPath } from '../../../../rig/control-plane/control-plane.ts';

/** State of this machine that Pods must not change. */
export async function networkOfMachine(): Promise<Record<string, string>> {
  const nftables = join(dirname(await toolPath('containerd')), 'nftables');
  const env = { ...process.env, LD_LIBRARY_PATH: nftables };
  return {
    nft: execFileSync(join(nftables, 'nft'), ['list', 'ruleset'], { env, encoding: 'utf8' }),
    forwarding: readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8'),
    tracked: readFileSync('/proc/sys/net/netfilter/nf_conntrack_max', 'utf8'),
  };
}

/** Cable ends and routes of this machine in the network 198.18.N.0/24. */
export function linksTo(address: string): readonly string[] {
  const index = address.split('.')[2];
  const lines = ['link', 'route'].flatMap((what) =>
    execFileSync('ip', ['-o', what], { encoding: 'utf8' }).split('\n'),
  );
  return lines.filter(
    (line) => line.includes(`mncp${index}@`) || line.includes(`198.18.${index}.`),
  );
}
