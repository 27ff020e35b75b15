import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/time/clock.ts';
import { createFakeClock } from '../../src/time/fake-clock.ts';
import { type RunningCloud, startCloud } from '../cloud/start.ts';
import { openTenant, type Tenant } from '../openstack/tenant.ts';
import {
  type Hypervisor,
  type HypervisorOptions,
  type Machine,
  startHypervisor,
} from './hypervisor.ts';
import { machineOf } from './machines.ts';

let cloud: RunningCloud;
let tenant: Tenant;
let server: { id: string };
let network: { id: string };
let hypervisor: Hypervisor;
const did: string[] = [];
// A look is a request, and on a busy machine a request takes its time.

const machine: Machine = {
  plug: async ({ nic }) => void did.push(`plug ${nic}`),
  unplug: async ({ nic }) => void did.push(`unplug ${nic}`),
};

/** How often the hypervisor has looked. */
function looks(): number {
  return cloud.requests.get(`nova GET /v2.1/servers/${server.id}/os-interface`) ?? 0;
}

/** Waits for a look that began after now. */
async function nextLook(): Promise<void> {
  const before = looks();
  await expect.poll(looks).toBeGreaterThan(before + 1);
}

async function start(options: Partial<HypervisorOptions> = {}): Promise<void> {
  const machines = new Map([[server.id, machine]]);
  hypervisor = startHypervisor({
    user: tenant.user,
    machines,
    clock: systemClock,
    pollMs: 10,
    ...options,
  });
  await hypervisor.watching;
}

beforeEach(async () => {
  did.length = 0;
  cloud = await startCloud({ encryptKey: '0123456789abcdef' });
  tenant = await openTenant(cloud, 'hyper');
  network = await tenant.createNetwork({ name: 'net' });
  await tenant.createSubnet({ networkId: network.id, cidr: '10.20.0.0/24' });
  server = await tenant.createServer({ name: 'worker-1', networkIds: [network.id] });
});

afterEach(async () => {
  await hypervisor[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

describe('startHypervisor', () => {
  it('plugs what Nova attaches and unplugs what it detaches, never the NIC of the boot', async () => {
    await start();
    const { port_id: first } = await tenant.attach(server.id, { networkId: network.id });
    await expect.poll(() => did).toEqual(['plug ens5']);
    await tenant.attach(server.id, { networkId: network.id });
    await expect.poll(() => did).toEqual(['plug ens5', 'plug ens6']);
    await tenant.detach(server.id, first);
    await expect.poll(() => did).toEqual(['plug ens5', 'plug ens6', 'unplug ens5']);
    expect(hypervisor.plugged(server.id).map(({ nic }) => nic)).toEqual(['ens6']);
  });

  it('waits while it is held, in both directions', async () => {
    await start();
    hypervisor.hold('plug');
    const { mac_addr: mac, port_id } = await tenant.attach(server.id, { networkId: network.id });
    await nextLook();
    expect(hypervisor.plugged(server.id)).toEqual([]);
    hypervisor.release('plug');
    await expect.poll(() => hypervisor.plugged(server.id)).toEqual([{ nic: 'ens5', mac }]);
    hypervisor.hold('unplug');
    await tenant.detach(server.id, port_id);
    await nextLook();
    expect(hypervisor.plugged(server.id)).toEqual([{ nic: 'ens5', mac }]);
    hypervisor.release('unplug');
    await expect.poll(() => hypervisor.plugged(server.id)).toEqual([]);
  });

  it('lets the machine wait as long as it was told', async () => {
    const clock = createFakeClock();
    await start({ clock, pollMs: 10_000, delayMs: { plug: 30_000 } });
    await tenant.attach(server.id, { networkId: network.id });
    for (let look = 0; look < 4; look++) {
      // The hypervisor sleeps between two looks; the first one that sees the NIC starts its delay.
      await expect.poll(() => clock.waits.length).toBe(1);
      expect(did).toEqual([]);
      await clock.advance(10_000);
    }
    await expect.poll(() => did).toEqual(['plug ens5']);
  });

  it('reads Nova when the mark is new, in each poll while a NIC is held, else every 5 s', async () => {
    const clock = createFakeClock();
    let mark = 1;
    await start({ clock, pollMs: 1_000, interfacesMark: async () => mark });
    const looksIn = async (polls: number) => {
      const before = looks();
      for (let poll = 0; poll < polls; poll++) {
        await expect.poll(() => clock.waits.length).toBe(1);
        await clock.advance(1_000);
      }
      await expect.poll(() => clock.waits.length).toBe(1);
      return looks() - before;
    };
    expect(await looksIn(20)).toBe(4);
    mark += 1;
    expect(await looksIn(1)).toBe(1);
    expect(await looksIn(4)).toBe(0);
    hypervisor.hold('plug');
    await tenant.attach(server.id, { networkId: network.id });
    mark += 1;
    expect(await looksIn(20)).toBe(20);
    hypervisor.release('plug');
    expect(await looksIn(1)).toBe(1);
    expect(did).toEqual(['plug ens5']);
  });

  it('unplugs everything of a server that is gone', async () => {
    await start();
    await tenant.attach(server.id, { networkId: network.id });
    await expect.poll(() => did).toEqual(['plug ens5']);
    await tenant.deleteServer(server.id);
    await expect.poll(() => did).toEqual(['plug ens5', 'unplug ens5']);
  });

  it('goes on after a failure of Nova and of a machine', async () => {
    const errors: string[] = [];
    let tries = 0;
    const shaky: Machine = {
      ...machine,
      plug: async (nic) => {
        tries += 1;
        if (tries === 1) throw new Error('the bus is stuck');
        await machine.plug(nic);
      },
    };
    const machines = new Map([[server.id, shaky]]);
    await start({ machines, onError: (error) => errors.push(String(error)) });
    cloud.controls.fail({ service: 'nova', kind: 'status', status: 500, times: 1 });
    await expect.poll(() => errors).toEqual([expect.stringContaining('status 500')]);
    await tenant.attach(server.id, { networkId: network.id });
    await expect.poll(() => did).toEqual(['plug ens5']);
    expect(errors).toContain('Error: the bus is stuck');
  });
});

describe('machineOf', () => {
  it('refuses what is no machine, with what to write', async () => {
    await start();
    expect(() => machineOf('box')).toThrow('"box" is no machine: write host:NAME or node:');
    expect(machineOf('node:business/b1')).toBeDefined();
  });
});
