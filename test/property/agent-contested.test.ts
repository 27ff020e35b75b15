import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { IpAnswer } from '../../src/agent/ip/session.ts';
import type { Rule } from '../../src/agent/snapshot.ts';
import { address, entry, host, link, macOf, request } from '../fixtures/agent-samples.ts';
import { AgentOnModel } from './agent-on-model.ts';
import { makeFamily } from './disk-faults/family-hosts.ts';

let bed: AgentOnModel;
afterEach(() => bed[Symbol.dispose]());

/** A host whose networkd holds another address of these NICs. */
async function hostHolding(...nics: readonly number[]): Promise<void> {
  bed = await AgentOnModel.open();
  const place = join(bed.box.root, 'run/systemd/network');
  mkdirSync(place, { recursive: true });
  for (const n of nics) {
    const held = `[Match]\nMACAddress=${macOf(n)}\n[Network]\nAddress=10.0.0.${n + 8}/24\n`;
    writeFileSync(join(place, `10-netplan-multinic${n - 1}.network`), held);
  }
}

/** The third look without a change sees what others have done. */
function disturbing(act: () => void) {
  let looks = 0;
  return async (lines: readonly string[]) => {
    if (lines.length === 0 && ++looks === 3) act();
    return bed.box.run(lines);
  };
}

/** The model on a kernel before 6.2, which renames no link that is up. */
async function onOldKernel(lines: readonly string[]): Promise<IpAnswer> {
  const { box } = bed;
  const failedAt = lines.findIndex((line, at) => {
    const [, dev] = /^link set dev (\S+) name /.exec(line) ?? [];
    const isUp = box.kernel.links.some(({ name, up }) => name === dev && up);
    return isUp && !lines.slice(0, at).includes(`link set dev ${dev} down`);
  });
  if (failedAt < 0) return box.run(lines);
  const answer = await box.run(lines.slice(0, failedAt));
  return 'words' in answer ? answer : { failedAt, words: 'Device or resource busy' };
}

const ipOfOldKernel = () => ({ run: onOldKernel, [Symbol.dispose]: () => undefined });

const ruleOf = (n: number) => bed.box.kernel.rules.filter(({ from }) => from === `10.0.0.${n}/32`);

/** Three NICs of which the second has left; its manager has read the profiles of two at the boot. */
async function secondHasLeft() {
  bed = await AgentOnModel.open();
  const two = request([entry(1), entry(2)], { protocol: 3 });
  expect((await bed.run(two)).outcome).toBe('ok');
  bed.anotherBoot();
  const remembered = [1, 2].flatMap(ruleOf);
  const moved = entry(1, { addresses: ['10.0.0.21/24'] });
  const one = request([moved], { generation: 2, protocol: 3 });
  expect((await bed.run(one)).outcome).toBe('ok');
  expect([1, 2].flatMap(ruleOf)).toEqual([]);
  return { remembered, moved };
}

function remember(rules: readonly Rule[]): void {
  bed.box.kernel = { ...bed.box.kernel, rules: [...bed.box.kernel.rules, ...rules] };
}

describe('a NIC that comes up', () => {
  const late = address('multinic0', '10.0.0.9/24', { broadcast: '10.0.0.255' });

  test('[RW-38] is brought on when networkd drops its address in the middle of the change', async () => {
    await hostHolding(1);
    let disturbed = false;
    bed.box.refuses = (line) => {
      if (disturbed || !line.startsWith('route ')) return false;
      disturbed = true;
      const others = bed.box.kernel.addresses.filter(({ link: name }) => name !== late.link);
      bed.box.kernel = { ...bed.box.kernel, addresses: [...others, late] };
      return true;
    };
    const answer = await bed.run(request([entry(1)]));
    expect(disturbed).toBe(true);
    expect(answer.nics).toMatchObject([{ reason: 'Configured', message: '' }]);
    const left = bed.box.kernel.addresses.filter(({ link: name }) => name === late.link);
    expect(left.map(({ cidr }) => cidr)).toEqual(['10.0.0.1/24']);
  });

  test('is brought on as well when it was up, on a kernel that has it go through down for its name', async () => {
    await hostHolding(1);
    bed.box.kernel = host([link(1, { up: true })]);
    let disturbed = false;
    bed.box.refuses = (line) => {
      if (disturbed || !line.startsWith('route ')) return false;
      disturbed = true;
      const others = bed.box.kernel.addresses.filter(({ link: name }) => name !== late.link);
      bed.box.kernel = { ...bed.box.kernel, addresses: [...others, late] };
      return true;
    };
    const answer = await bed.run(request([entry(1)]), { startIp: ipOfOldKernel });
    expect(disturbed).toBe(true);
    expect(bed.box.done).toContain('link set dev ens1 down');
    expect(answer.nics).toMatchObject([{ reason: 'Configured', message: '' }]);
  });

  test('gets the name of another one that gets its own, on a kernel that renames none that is up', async () => {
    bed = await AgentOnModel.open();
    const both = request([entry(1), entry(2)]);
    expect((await bed.run(both)).outcome).toBe('ok');
    await bed.box.run([
      'link set dev multinic0 name x',
      'link set dev multinic1 name multinic0',
      'link set dev x name multinic1',
    ]);
    const answer = await bed.run({ ...both, attempt: 1 }, { startIp: ipOfOldKernel });
    expect(answer.nics.map(({ name, state }) => [name, state])).toEqual([
      ['multinic0', 'Configured'],
      ['multinic1', 'Configured'],
    ]);
    const macs = new Map(bed.box.kernel.links.map(({ name, mac }) => [name, mac]));
    expect([macs.get('multinic0'), macs.get('multinic1')]).toEqual([macOf(1), macOf(2)]);
  });

  test('is brought on when NetworkManager drops what it finds on it, whatever it holds', async () => {
    bed = await AgentOnModel.open();
    makeFamily(bed.box.root, 'keyfile', 2);
    let refused = false;
    bed.box.refuses = (line) => !refused && (refused = line.startsWith('route '));
    const answer = await bed.run(request([entry(1)], { protocol: 3, family: 'keyfile' }));
    expect(refused).toBe(true);
    expect(answer.nics).toMatchObject([{ reason: 'Configured', message: '' }]);
  });

  test('is undone at once when the kernel refuses and nobody else has to do with it', async () => {
    bed = await AgentOnModel.open();
    bed.box.refuses = (line) => line.startsWith('route ');
    const begun = bed.clock.monotonicMs();
    expect((await bed.run(request([entry(1)]))).nics).toMatchObject([{ reason: 'ApplyFailed' }]);
    expect(bed.clock.monotonicMs() - begun).toBeLessThan(3_000);
  });

  test('is undone at once when it was up before: what the manager holds it has set by then', async () => {
    await hostHolding(1);
    expect((await bed.run(request([entry(1)]))).outcome).toBe('ok');
    bed.box.refuses = (line) => line.startsWith('route ');
    const begun = bed.clock.monotonicMs();
    const moved = request([entry(1, { addresses: ['10.0.0.21/24'] })], { generation: 2 });
    expect((await bed.run(moved)).nics).toMatchObject([{ reason: 'ApplyFailed' }]);
    expect(bed.clock.monotonicMs() - begun).toBeLessThan(3_000);
  });

  test('is undone when the kernel goes on refusing, whatever networkd holds', async () => {
    await hostHolding(1);
    bed.box.refuses = (line) => line.startsWith('route ');
    const answer = await bed.run(request([entry(1)]));
    expect(answer.nics).toMatchObject([{ state: 'Failed', reason: 'ApplyFailed' }]);
    expect(answer.nics[0]?.message).toMatch(/Operation not permitted: route replace/);
    expect(bed.box.kernel.links.map(({ name }) => name)).not.toContain('multinic0');
  });

  test('is watched while networkd may set what it holds of it', async () => {
    await hostHolding(1);
    let disturbed = false;
    const run = disturbing(() => {
      disturbed = true;
      bed.box.kernel = { ...bed.box.kernel, addresses: [...bed.box.kernel.addresses, late] };
    });
    const startIp = () => ({ run, [Symbol.dispose]: () => undefined });
    const answer = await bed.run(request([entry(1)]), { startIp });
    expect(answer.nics).toMatchObject([{ reason: 'Configured' }]);
    expect(disturbed).toBe(true);
    expect(bed.box.kernel.addresses.map(({ cidr }) => cidr)).not.toContain('10.0.0.9/24');
  });

  test('is watched until networkd says that it is done with it', async () => {
    await hostHolding(1);
    const place = join(bed.box.root, 'run/systemd/netif/links');
    mkdirSync(place, { recursive: true });
    const saying = (state: string) => {
      const [nic] = bed.box.kernel.links.filter(({ mac }) => mac === macOf(1));
      writeFileSync(join(place, String(nic?.index)), `ADMIN_STATE=${state}\n`);
    };
    saying('configuring');
    let looks = 0;
    const run = async (lines: readonly string[]) => {
      // More than half a second after the change.
      if (lines.length === 0 && ++looks === 40) {
        bed.box.kernel = { ...bed.box.kernel, addresses: [...bed.box.kernel.addresses, late] };
        saying('configured');
      }
      return bed.box.run(lines);
    };
    const startIp = () => ({ run, [Symbol.dispose]: () => undefined });
    const answer = await bed.run(request([entry(1)]), { startIp });
    expect(answer.nics).toMatchObject([{ reason: 'Configured' }]);
    expect(looks).toBeGreaterThan(40);
    expect(bed.box.kernel.addresses.map(({ cidr }) => cidr)).not.toContain('10.0.0.9/24');
  });

  test('is not waited for without an end', async () => {
    await hostHolding(1);
    const place = join(bed.box.root, 'run/systemd/netif/links');
    mkdirSync(place, { recursive: true });
    const [nic] = bed.box.kernel.links.filter(({ mac }) => mac === macOf(1));
    writeFileSync(join(place, String(nic?.index)), 'ADMIN_STATE=configuring\n');
    const begun = bed.clock.monotonicMs();
    expect((await bed.run(request([entry(1)]))).nics).toMatchObject([{ reason: 'Configured' }]);
    expect(bed.clock.monotonicMs() - begun).toBeGreaterThan(14_000);
    expect(bed.clock.monotonicMs() - begun).toBeLessThan(17_000);
  });

  test('is rid of what it had before it left and the manager sets again', async () => {
    bed = await AgentOnModel.open();
    const via = { to: '10.77.0.0/24', via: '10.0.0.254' };
    const first = entry(1, { routing: 'main', routes: [via] });
    expect((await bed.run(request([first], { protocol: 3 }))).outcome).toBe('ok');
    const before = bed.box.kernel;
    bed.anotherBoot();
    const cleanup = request([], { action: 'cleanup', generation: 2 });
    expect((await bed.run(cleanup)).outcome).toBe('ok');
    let disturbed = false;
    const run = disturbing(() => {
      disturbed = true;
      const { addresses, routes } = before;
      const { kernel } = bed.box;
      const theirs = addresses.filter(({ link: name }) => name === 'multinic0');
      const ways = routes.filter(({ links }) => links.includes('multinic0'));
      bed.box.kernel = {
        ...kernel,
        addresses: [...kernel.addresses, ...theirs],
        routes: [...kernel.routes, ...ways],
      };
    });
    const startIp = () => ({ run, [Symbol.dispose]: () => undefined });
    const other = entry(1, { addresses: ['10.0.0.21/24'] });
    const answer = await bed.run(request([other], { generation: 3 }), { startIp });
    expect(answer.nics).toMatchObject([{ reason: 'Configured' }]);
    expect(disturbed).toBe(true);
    const { addresses, routes } = bed.box.kernel;
    const left = addresses.filter(({ link: name }) => name === 'multinic0');
    expect(left.map(({ cidr }) => cidr)).toEqual(['10.0.0.21/24']);
    expect(routes.map(({ to }) => to)).not.toContain('10.77.0.0/24');
  });

  describe('beside NICs whose rules NetworkManager remembers', () => {
    test('rids them of rules that it sets again: of one that left, and of an address that did', async () => {
      const { remembered, moved } = await secondHasLeft();
      const kept = ruleOf(21);
      let disturbed = false;
      bed.box.refuses = (line) => {
        if (disturbed || !line.startsWith('rule ')) return false;
        disturbed = true;
        remember(remembered);
        return false;
      };
      const both = request([moved, entry(3)], { generation: 3, protocol: 3 });
      expect((await bed.run(both)).outcome).toBe('ok');
      expect(disturbed).toBe(true);
      expect([1, 2].flatMap(ruleOf)).toEqual([]);
      expect(ruleOf(21)).toEqual(kept);
      expect(ruleOf(3)).toHaveLength(1);
    });

    test('leaves one alone that is another NIC’s by now', async () => {
      const { moved } = await secondHasLeft();
      const heir = entry(3, { index: 1, addresses: ['10.0.0.2/24'] });
      const both = request([moved, heir], { generation: 3, protocol: 3 });
      expect((await bed.run(both)).outcome).toBe('ok');
      expect(ruleOf(2)).toHaveLength(1);
      const check = await bed.run({ ...both, action: 'check' });
      expect(check.nics.map(({ state }) => state)).toEqual(['Configured', 'Configured']);
      expect((await bed.run({ ...both, attempt: 1 })).outcome).toBe('ok');
      expect(ruleOf(2)).toHaveLength(1);
    });

    test('a look at the host tells of rules that are back, and the next run takes them and nothing else', async () => {
      const { remembered, moved } = await secondHasLeft();
      remember(remembered.filter(({ table }) => table === 101));
      // Somebody else uses the NIC by now.
      const theirs = address('ens2', '192.168.7.1/24', { broadcast: '192.168.7.255' });
      const { kernel } = bed.box;
      bed.box.kernel = { ...kernel, addresses: [...kernel.addresses, theirs] };
      const one = request([moved], { generation: 2, protocol: 3 });
      const check = await bed.run({ ...one, action: 'check' });
      expect(check.nics).toMatchObject([
        { state: 'Configured' },
        { mac: macOf(2), reason: 'Drifted' },
      ]);
      expect(check.nics[1]?.message).toMatch(/rule del from 10\.0\.0\.2/);
      bed.box.done.length = 0;
      expect((await bed.run({ ...one, attempt: 1 })).outcome).toBe('ok');
      expect(bed.box.done).toHaveLength(1);
      expect(bed.box.done[0]).toMatch(/^rule del from 10\.0\.0\.2/);
      expect(bed.box.kernel.addresses).toContainEqual(theirs);
      expect((await bed.run({ ...one, action: 'check' })).nics).toMatchObject([
        { state: 'Configured' },
      ]);
    });
  });

  test('is watched while udev has not set its old name beside the new one', async () => {
    bed = await AgentOnModel.open();
    mkdirSync(join(bed.box.root, 'usr/lib/systemd'), { recursive: true });
    writeFileSync(join(bed.box.root, 'usr/lib/systemd/systemd-udevd'), '');
    let disturbed = false;
    const run = disturbing(() => {
      disturbed = true;
      const links = bed.box.kernel.links.map((each) =>
        each.name === 'multinic0' ? { ...each, mtu: 1400, altNames: ['ens1'] } : each,
      );
      bed.box.kernel = { ...bed.box.kernel, links };
    });
    const startIp = () => ({ run, [Symbol.dispose]: () => undefined });
    const answer = await bed.run(request([entry(1)]), { startIp });
    expect(answer.nics).toMatchObject([{ reason: 'Configured' }]);
    expect(disturbed).toBe(true);
    expect(bed.box.kernel.links.find(({ name }) => name === 'multinic0')?.mtu).toBe(1450);
  });
});

describe('of NICs that a network manager holds too', () => {
  test('one that is unplugged in mid-change is not told to be configured', async () => {
    await hostHolding(1);
    let gone = false;
    bed.box.refuses = (line) => {
      if (gone || !line.startsWith('route ')) return false;
      gone = true;
      bed.box.kernel = {
        ...bed.box.kernel,
        links: bed.box.kernel.links.filter(({ mac }) => mac !== macOf(1)),
        addresses: bed.box.kernel.addresses.filter(({ link: name }) => name !== 'multinic0'),
        routes: bed.box.kernel.routes.filter(({ links }) => !links.includes('multinic0')),
      };
      return true;
    };
    const answer = await bed.run(request([entry(1)]));
    expect(gone).toBe(true);
    expect(answer.nics[0]?.state).not.toBe('Configured');
  });

  test('none is changed any more once the node has lost its default route', async () => {
    await hostHolding(1);
    let lostAt: number | undefined;
    bed.box.refuses = (line) => {
      if (lostAt !== undefined || !line.startsWith('route ')) return false;
      lostAt = bed.box.done.length;
      const others = bed.box.kernel.addresses.filter(({ link: name }) => name !== 'multinic0');
      bed.box.kernel = {
        ...bed.box.kernel,
        addresses: [...others, address('multinic0', '10.0.0.9/24', { broadcast: '10.0.0.255' })],
        routes: bed.box.kernel.routes.filter(({ to }) => to !== '0.0.0.0/0'),
      };
      return true;
    };
    const answer = await bed.run(request([entry(1)]));
    expect(answer.nics).toMatchObject([{ state: 'Failed' }]);
    const after = bed.box.done.slice(lostAt);
    expect(after.filter((line) => /^(addr|route|rule) (add|replace)/.test(line))).toEqual([]);
  });

  test('ten that the kernel refuses for good end within the 20 s that an agent told to stop has', async () => {
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    await hostHolding(...numbers);
    for (const n of numbers) {
      const settings = join(bed.box.root, `proc/sys/net/ipv6/conf/ens${n}`);
      mkdirSync(settings, { recursive: true });
      writeFileSync(join(settings, 'accept_ra'), '1');
    }
    bed.box.kernel = host(numbers.map((n) => link(n)));
    bed.box.refuses = (line) => line.startsWith('route ');
    const begun = bed.clock.monotonicMs();
    const answer = await bed.run(request(numbers.map((n) => entry(n))));
    expect(answer.nics.map(({ state }) => state)).toEqual(numbers.map(() => 'Failed'));
    expect(bed.clock.monotonicMs() - begun).toBeLessThan(20_000);
  });
});
