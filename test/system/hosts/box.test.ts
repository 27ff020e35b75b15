import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Box, startBox } from '../../../rig/hosts/box/box.ts';
import { scaled } from '../../speed.ts';
import { leftoversOf } from '../nodes/leftovers.ts';

const generous = { timeout: scaled(60_000), interval: 100 };

const configured = `network:
  version: 2
  ethernets:
    multinic0:
      match: {macaddress: "02:00:00:00:02:00"}
      set-name: multinic0
      mtu: 8000
      addresses: [10.20.0.10/24]
      routes: [{to: 0.0.0.0/0, via: 10.20.0.1, table: 100}]
      routing-policy: [{from: 10.20.0.10, table: 100, priority: 10100}]
`;

async function bootId(box: Box): Promise<string> {
  return (await box.sh(['cat', '/proc/sys/kernel/random/boot_id'])).trim();
}

describe('a box', () => {
  let box: Box;

  beforeAll(async () => {
    box = await startBox('itbox');
  });

  afterAll(async () => {
    await box.down();
  });

  test('boots without a failed unit and configures its primary NIC by netplan', async () => {
    expect(await box.sh(['systemctl', '--failed', '--plain', '--no-legend'])).toBe('');
    await vi.waitFor(async () => {
      expect(await box.sh(['ip', 'route'])).toContain('default via 10.200.0.254 dev eth0');
    }, generous);
  });

  test('a box detects a plugged NIC through udev', async () => {
    await box.plug('ens20', '02:00:00:00:02:00');
    await vi.waitFor(async () => {
      const udev = await box.sh(['udevadm', 'info', '/sys/class/net/ens20']);
      expect(udev).toContain('ID_NET_DRIVER=veth');
    }, generous);
  });

  test('a box applies a netplan file at a reboot, and netplan generate accepts the file', async () => {
    await box.sh(
      ['sh', '-c', 'umask 077; cat >/etc/netplan/90-multinic0.yaml; netplan generate'],
      configured,
    );
    const before = await bootId(box);
    await box.reboot();
    expect(await bootId(box)).not.toBe(before);
    await expectConfigured(box);
  });

  test('files survive a power cut', async () => {
    const before = await bootId(box);
    await box.cut();
    await box.start();
    expect(await bootId(box)).not.toBe(before);
    await expectConfigured(box);
  });

  test('a box reaches the network behind the NICs', async () => {
    execFileSync('ip', ['-n', box.fabric, 'addr', 'add', '10.20.0.1/24', 'dev', 'br0']);
    await vi.waitFor(async () => {
      await box.sh(['ping', '-c1', '-W1', '-I', 'multinic0', '10.20.0.1']);
    }, generous);
  });

  test('a NIC that was unplugged stays away over a stop and a start', async () => {
    await box.unplug('ens20');
    await box.stop();
    await box.start();
    expect(await box.sh(['ip', '-o', 'link'])).not.toMatch(/multinic0|ens20/);
  });

  test('the error names the failed command and the cause', async () => {
    await expect(box.sh(['ls', '/nothing'])).rejects.toThrow(/sh itbox-\d+ ls .*\/nothing/);
  });

  test('a box leaves no files and processes behind', async () => {
    expect(leftoversOf(box.name)).not.toEqual([]);
    await box.down();
    expect(leftoversOf(box.name)).toEqual([]);
    await box.down();
  });
});

async function expectConfigured(box: Box): Promise<void> {
  await vi.waitFor(async () => {
    const link = await box.sh(['ip', '-o', 'link', 'show', 'multinic0']);
    expect(link).toContain('mtu 8000');
    const address = await box.sh(['ip', '-o', 'addr', 'show', 'multinic0']);
    expect(address).toContain('10.20.0.10/24');
    expect(await box.sh(['ip', 'rule'])).toContain('10100:\tfrom 10.20.0.10 lookup 100');
    const route = await box.sh(['ip', 'route', 'show', 'table', '100']);
    expect(route).toContain('default via 10.20.0.1 dev multinic0');
  }, generous);
}
