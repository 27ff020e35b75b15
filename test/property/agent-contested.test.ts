import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { AgentDeps } from '../../src/agent/agent.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { address, entry, macOf, request } from '../beds/agent-samples.ts';
import { AgentOnModel } from './agent-on-model.ts';
import type { ModelHost } from './model-host.ts';

let bed: AgentOnModel;
let box: ModelHost;
afterEach(() => bed[Symbol.dispose]());

async function freshHost(): Promise<void> {
  bed = await AgentOnModel.open();
  ({ box } = bed);
}

function agent(asked: JobRequest, more: Partial<AgentDeps> = {}) {
  return bed.run(asked, more);
}

/** The third look without a change sees what others have done. */
function disturbing(act: () => void) {
  let looks = 0;
  return async (lines: readonly string[]) => {
    if (lines.length === 0 && ++looks === 3) act();
    return box.run(lines);
  };
}

describe('a NIC that comes up', () => {
  const late = address('multinic0', '10.0.0.9/24', { broadcast: '10.0.0.255' });

  /** A host whose networkd holds another address of the NIC. */
  async function heldHost(): Promise<void> {
    await freshHost();
    const place = join(box.root, 'run/systemd/network');
    mkdirSync(place, { recursive: true });
    const held = `[Match]\nMACAddress=${macOf(1)}\n[Network]\nAddress=${late.cidr}\n`;
    writeFileSync(join(place, '10-netplan-multinic0.network'), held);
  }

  test('is brought on when networkd drops its address in the middle of the change', async () => {
    await heldHost();
    let disturbed = false;
    box.refuses = (line) => {
      if (disturbed || !line.startsWith('route ')) return false;
      disturbed = true;
      const others = box.kernel.addresses.filter(({ link: name }) => name !== late.link);
      box.kernel = { ...box.kernel, addresses: [...others, late] };
      return true;
    };
    const answer = await agent(request([entry(1)]));
    expect(disturbed).toBe(true);
    expect(answer.nics).toMatchObject([{ reason: 'Configured', message: '' }]);
    const left = box.kernel.addresses.filter(({ link: name }) => name === late.link);
    expect(left.map(({ cidr }) => cidr)).toEqual(['10.0.0.1/24']);
  });

  test('is undone when the kernel goes on refusing, whatever networkd holds', async () => {
    await heldHost();
    box.refuses = (line) => line.startsWith('route ');
    const answer = await agent(request([entry(1)]));
    expect(answer.nics).toMatchObject([{ state: 'Failed', reason: 'ApplyFailed' }]);
    expect(answer.nics[0]?.message).toMatch(/Operation not permitted: route replace/);
    expect(box.kernel.links.map(({ name }) => name)).not.toContain('multinic0');
  });

  test('is watched while networkd may set what it holds of it', async () => {
    await heldHost();
    let disturbed = false;
    const run = disturbing(() => {
      disturbed = true;
      box.kernel = { ...box.kernel, addresses: [...box.kernel.addresses, late] };
    });
    const startIp = () => ({ run, [Symbol.dispose]: () => undefined });
    const answer = await agent(request([entry(1)]), { startIp });
    expect(answer.nics).toMatchObject([{ reason: 'Configured' }]);
    expect(disturbed).toBe(true);
    expect(box.kernel.addresses.map(({ cidr }) => cidr)).not.toContain('10.0.0.9/24');
  });

  test('is watched while udev has not set its old name beside the new one', async () => {
    await freshHost();
    mkdirSync(join(box.root, 'usr/lib/systemd'), { recursive: true });
    writeFileSync(join(box.root, 'usr/lib/systemd/systemd-udevd'), '');
    let disturbed = false;
    const run = disturbing(() => {
      disturbed = true;
      const links = box.kernel.links.map((each) =>
        each.name === 'multinic0' ? { ...each, mtu: 1400, altNames: ['ens1'] } : each,
      );
      box.kernel = { ...box.kernel, links };
    });
    const startIp = () => ({ run, [Symbol.dispose]: () => undefined });
    const answer = await agent(request([entry(1)]), { startIp });
    expect(answer.nics).toMatchObject([{ reason: 'Configured' }]);
    expect(disturbed).toBe(true);
    expect(box.kernel.links.find(({ name }) => name === 'multinic0')?.mtu).toBe(1450);
  });
});
