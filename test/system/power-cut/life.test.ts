import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../../fixtures/agent-samples.ts';
import { nic } from '../../host/agent-process.ts';
import { inTurn } from '../../rotation.ts';
import { type Shown, stateOf } from '../distros/nic-state.ts';
import { GuestHost, inTime, programDisk } from './guest-host.ts';

const macs = {
  6: '02:00:00:00:01:06',
  7: '02:00:00:00:01:07',
  8: '02:00:00:00:01:08',
};

/** Half a minute on an idle machine. */
const patienceMs = 900_000;

const dual = {
  addresses: ['10.0.0.11/16', 'fd00::11/64', 'fd00::12/64'],
  gateway: '10.0.0.254',
  gateway6: 'fd00::fe',
  routes: [
    { to: '10.77.0.0/24', via: '10.0.0.253' },
    { to: 'fd00:77::/48', via: 'fd00::fd' },
  ],
};
const asked = (generation: number) =>
  request([nic(0, macs[6], '', dual)], { protocol: 3, generation });

const act = inTurn('guests', 2, (title: string, work: () => Promise<void>, timeoutMs: number) =>
  test(title, work, timeoutMs),
);

let disk: Awaited<ReturnType<typeof programDisk>>;
let host: GuestHost;

beforeAll(async () => {
  disk = await programDisk();
  host = await GuestHost.boot('netplan', disk.path);
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
  await disk?.[Symbol.asyncDispose]();
});

/** Runs `ip -batch` with all lines. */
async function ip(lines: readonly string[]): Promise<void> {
  await host.guest.sh(['ip', '-batch', '-'], lines.map((line) => `${line}\n`).join(''));
}

/** Links with their hierarchy and IPv4 addresses; IPv6 is left out, because the kernel may still probe addresses. */
async function look() {
  const links = await host.json('addr', 'show');
  return links.map(({ ifname, address, mtu, master, link, addr_info: all = [] }: Linked) => ({
    ifname,
    address,
    mtu,
    master,
    link,
    addresses: all.filter(({ family }) => family === 'inet'),
  }));
}

type Linked = Shown & { readonly master?: string; readonly link?: string };

async function linkOf(name: string) {
  const [link] = await host.json('-d', 'link', 'show', 'dev', name);
  return link as { readonly ifname: string; readonly altnames?: readonly string[] };
}

act(
  'a NIC lives: plugged in and up, configured, renamed while up, booted, pulled out, gone',
  async () => {
    await host.guest.plug(6, macs[6]);
    await inTime(async () => expect((await linkOf('ens6')).ifname).toBe('ens6'));
    // As DHCP clients and cloud-init leave them. Kernels before 6.2 do not rename such a link.
    await host.sh('ip', 'link', 'set', 'ens6', 'up');
    const refused = await host.exec('ip', 'link', 'set', 'ens6', 'name', 'other');
    expect(refused.stderr).toContain('Device or resource busy');

    const first = await host.agent(asked(1));
    expect(first.result, first.log).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }] });
    const had = await stateOf(host);
    expect(had.addresses).toHaveLength(3);
    // The altnames for the slot stay on the NIC.
    expect((await linkOf('multinic0')).altnames?.toSorted()).toEqual(['enp0s6', 'ens6']);

    // Renames the NIC, as cloud-init does, and leaves it up with all addresses.
    const six = dual.addresses.filter((address) => address.includes(':'));
    await ip([
      'link set multinic0 down',
      'link property del dev multinic0 altname ens6',
      'link set multinic0 name ens6',
      'link set ens6 up',
      ...six.map((address) => `addr add ${address} dev ens6 nodad`),
    ]);
    const second = await host.agent(asked(2));
    expect(second.result, second.log).toMatchObject({
      outcome: 'ok',
      nics: [{ name: 'multinic0' }],
    });
    expect(await stateOf(host), 'the way through down loses nothing').toEqual(had);

    await host.reboot();
    await inTime(async () => expect(await stateOf(host)).toEqual(had));
    const check = await host.agent({ ...asked(2), action: 'check' });
    expect(check.result, check.log).toMatchObject({ outcome: 'ok' });

    await host.guest.unplug(6);
    const without = await host.agent(asked(3));
    expect(without.result.nics, without.log).toMatchObject([{ reason: 'WaitingForNIC' }]);
    const gone = await host.agent(request([], { protocol: 3, generation: 4 }));
    expect(gone.result.outcome, gone.log).toBe('ok');
    expect(await host.files()).toEqual({});
    expect(await host.sh('sh', '-c', 'ip rule show; ip -6 rule show')).not.toMatch(/^101\d\d:/m);
  },
  patienceMs,
);

act(
  'a NIC that is in a bond, or below a VLAN, is left alone, and so are they',
  async () => {
    await host.guest.plug(7, macs[7]);
    await host.guest.plug(8, macs[8]);
    await inTime(async () => {
      await linkOf('ens7');
      await linkOf('ens8');
    });
    // The bond has the MAC of the first member.
    await ip([
      'link add bond0 type bond mode active-backup',
      'link set ens7 master bond0',
      'addr add 192.0.2.7/24 dev bond0',
      'link set bond0 up',
      'link set ens8 up',
      'link add link ens8 name ens8.5 type vlan id 5',
    ]);
    const nics = [nic(0, macs[7], '10.0.0.17/16'), nic(1, macs[8], '10.1.0.18/16')];
    const before = await look();
    const { result, log } = await host.agent(request(nics, { protocol: 3, generation: 5 }));
    expect(result.nics, log).toMatchObject([
      { reason: 'NICInUse', message: 'ens7 is a member of bond0' },
      { reason: 'NICInUse', message: 'ens8 is the parent link of ens8.5' },
    ]);
    expect(await look()).toEqual(before);
    expect(await host.files()).toEqual({});
  },
  patienceMs,
);
