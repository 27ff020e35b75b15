import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const a = nic(0, first, '10.0.0.11/16');
const b = nic(1, second, '10.1.0.12/16');

let host: NamespaceHost;
afterEach(() => host.down());

/** Creates a directory with this script as `ip`. */
async function ipOf(script: string): Promise<string> {
  const directory = join(host.root, 'odd');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'ip'), `#!/bin/sh\n${script}\n`);
  await chmod(join(directory, 'ip'), 0o755);
  return directory;
}

test.each([
  ['is missing', undefined, /there is no ip command on PATH; install iproute2/],
  // iproute2 before 4.14 lacks JSON output.
  ['is too old', `echo 'Option "-j" is unknown, try "ip -help".' >&2; exit 255`, /"-j" is unknown/],
  ['cannot see links', `echo 'Cannot open netlink socket' >&2; exit 1`, /netlink socket/],
  ['prints nothing', 'exit 0', /ip exited with code 0/],
  ['prints something other than JSON', `while read -r _; do echo '<html>'; done`, /JSON|\[/],
])(
  '[RW-01] [RW-37] an ip that %s is reported with each NIC, and nothing is changed',
  async (_, script, words) => {
    host = await createHost('odd-ip', { nics: { ens5: first, ens6: second } });
    await runAgent(host, request([a]));
    const before = await stateOf(host);
    const options = script === undefined ? { withoutIp: true } : { path: await ipOf(script) };
    const changed = request([{ ...a, mtu: 1400 }, b], { generation: 2 });
    const { code, result, effects } = await runAgent(host, changed, {
      ...options,
      traced: true,
    });
    expect(code).toBe(1);
    expect(result).toMatchObject({
      outcome: 'failed',
      nics: [a, b].map(({ mac }) => ({
        mac,
        reason: 'ApplyFailed',
        message: expect.stringMatching(words) as string,
      })),
    });
    expect(effects).toEqual(['agent.result.write before 1', 'agent.result.write after 1']);
    expect(await stateOf(host)).toEqual(before);
  },
);
