import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { type Manager, startUdev } from '../../rig/hosts/namespace/managers.ts';
import { request } from '../../src/agent/planning/sample.ts';
import { nic, runAgent } from '../namespaces/agent-process.ts';
import { eventually } from '../namespaces/eventually.ts';
import { denyingIp } from '../namespaces/line-by-line-ip.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/16');
/** What 99-default.link makes of a PCI NIC: the names of its slot and path, of which one is the kernel name. */
const slotNames = `[Match]\nMACAddress=${mac}\n[Link]\nAlternativeName=ens5\nAlternativeName=enp0s5\n`;

let host: NamespaceHost;
let managers: Manager[] = [];

afterEach(async () => {
  for (const manager of managers) await manager.stop();
  managers = [];
  await host.down();
});

async function hostWithUdev(name: string, link = slotNames): Promise<void> {
  host = await createHost(name);
  managers = [await startUdev(host, { '50-slot.link': link })];
  await host.plug('ens5', mac);
  await eventually(async () => expect(await altNames()).toContain('enp0s5'));
}

async function altNames(): Promise<string[]> {
  const links = (await host.ipJson('link', 'show')) as { address: string; altnames?: string[] }[];
  return links.find(({ address }) => address === mac)?.altnames ?? [];
}

async function nameNow(): Promise<string> {
  const links = (await host.ipJson('link', 'show')) as { address: string; ifname: string }[];
  return links.find(({ address }) => address === mac)?.ifname ?? '';
}

describe('a host whose udev makes the slot name an alternative name', () => {
  test('gets the old name back when a NIC is detached', async () => {
    await hostWithUdev('slot-detach');
    const attached = await runAgent(host, request([wanted]));
    expect(attached.result?.outcome, attached.stderr).toBe('ok');
    await eventually(async () => expect(await altNames()).toContain('ens5'));
    const { result } = await runAgent(host, request([], { generation: 2 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'ens5', reason: 'Removed' }] });
  });

  test('has a first attach that the kernel refused undone, and the next one works', async () => {
    await hostWithUdev('slot-undo');
    const path = await denyingIp(host, '^rule.add');
    const failed = await runAgent(host, request([wanted]), { path });
    expect(failed.result?.nics[0]).toMatchObject({ name: 'ens5', reason: 'ApplyFailed' });
    expect(await nameNow()).toBe('ens5');
    const later = await runAgent(host, request([wanted], { attempt: 1 }));
    expect(later.result?.outcome).toBe('ok');
  });

  test('recovers from an agent that was killed after its batch', async () => {
    await hostWithUdev('slot-kill');
    const killed = await runAgent(host, request([wanted]), {
      killAt: 'agent.kernel.batch after 1',
    });
    expect(killed.code).toBe(137);
    await eventually(async () => expect(await altNames()).toContain('ens5'));
    const { result } = await runAgent(host, request([wanted], { attempt: 1 }));
    expect(result?.outcome).toBe('ok');
    expect(await host.ip('-br', '-4', 'addr', 'show', 'dev', 'multinic0')).toContain('10.0.0.11');
  });
});
