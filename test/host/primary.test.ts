import { spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';

let host: NamespaceHost;
afterEach(() => host.down());

/** Records all kernel events about the host's network. */
function monitor({ netns }: NamespaceHost) {
  const child = spawn('ip', ['-n', netns, 'monitor', 'all'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const events: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => events.push(text));
  return {
    text: () => events.join(''),
    [Symbol.dispose]: () => void child.kill(),
  };
}

describe('primary NIC', () => {
  test('[RW-15] the primary NIC gets no netlink event while NICs are attached, changed and detached', async () => {
    host = await createHost('monitor', { nics: { ens5: first, ens6: second } });
    using seen = monitor(host);
    // The monitor is ready once an event arrives.
    const begin = async () => {
      await host.ip('addr', 'replace', '127.9.9.9/32', 'dev', 'lo');
      return seen.text();
    };
    await expect.poll(begin).toContain('127.9.9.9');
    const a = nic(0, first, '10.0.0.11/16', { gateway });
    const b = nic(1, second, '10.0.0.12/16', { gateway });
    const moved = nic(0, first, '10.0.0.21/16', { gateway, mtu: 1400 });
    for (const [generation, nics] of [[a], [a, b], [moved, b], [b], []].entries()) {
      const { result } = await runAgent(host, request(nics, { generation }));
      expect(result?.outcome).toBe('ok');
    }
    // A control event proves the monitor would have reported earlier events.
    await host.ip('addr', 'add', '10.200.0.77/32', 'dev', 'eth0');
    await expect.poll(() => seen.text()).toContain('10.200.0.77');
    const [before = ''] = seen.text().split('10.200.0.77');
    expect(before).toContain('10.0.0.21');
    const about = before.split('\n').filter((line) => line.includes('eth0'));
    // The control event's own first line.
    expect(about.length).toBeLessThanOrEqual(1);
    expect(about.join('')).toMatch(/^(\[ADDR\])?\d+: eth0 +inet $|^$/);
  });
});
