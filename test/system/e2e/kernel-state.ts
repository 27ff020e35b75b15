import * as z from 'zod';
import type { Node } from '../../../rig/control-plane/node.ts';

/** State of our NICs as `ip -j` shows it, as sets: without ifindex, counters and netnsid, which a reboot changes. */
export interface KernelState {
  readonly links: readonly unknown[];
  readonly addresses: readonly unknown[];
  readonly routes: readonly unknown[];
  readonly rules: readonly unknown[];
}

const records = z.array(z.record(z.string(), z.unknown()));
const volatile = new Set([
  ...'ifindex link_index link_netnsid stats stats64 txqlen qdisc group parentbus'.split(' '),
  ...'num_tx_queues num_rx_queues gso_max_size gso_max_segs tso_max_size tso_max_segs'.split(' '),
  ...'valid_life_time preferred_life_time'.split(' '),
  ...'hello_timer tcn_timer topology_change_timer gc_timer'.split(' '),
]);

/** Everything that belongs to a link named multinic0 to multinic8, or to their tables and rule priorities, of both families. */
export async function ourState(node: Node): Promise<KernelState> {
  const [links, ...families] = await read(node, ofLinks, ...ofFamily('-4'), ...ofFamily('-6'));
  const [four, six] = [familyIn(families.slice(0, 3)), familyIn(families.slice(3))];
  const rules = [...four.rules, ...six.rules].filter(({ priority }) => isOurPriority(priority));
  const addresses = [...four.addresses, ...six.addresses].filter(({ ifname }) => isOurs(ifname));
  return {
    links: sorted((links ?? []).filter(({ ifname }) => isOurs(ifname))),
    // The other end of a veth, as a number; `ip -6 addr` alone tells it.
    addresses: sorted(addresses.map((address) => ({ ...address, link: undefined }))),
    routes: sorted([...four.routes, ...six.routes].filter(({ dev }) => isOurs(dev))),
    // Who made a rule, the agent or networkd at boot, makes no difference.
    rules: sorted(rules.map((rule) => ({ ...rule, protocol: undefined }))),
  };
}

/** Where managers of networks read, and we write; find does not like it that some of them are not there. */
const folders =
  '/etc/netplan /etc/NetworkManager/system-connections /etc/systemd/network /etc/sysctl.d';
const foreignFiles = `find ${folders} -maxdepth 1 -type f ! -name '9?-multinic[0-8]*' -exec sha256sum {} + 2>/dev/null | sort`;
const filesNamed = (name: string): string =>
  `find ${folders} -maxdepth 1 -name '*${name}*' 2>/dev/null || true`;

/** Everything else, which must never change. What is plugged (ens5, ens6, …) comes and goes with the ports, a veth with its Pod. */
export async function foreignState(node: Node): Promise<KernelState & { files: string }> {
  const [links, { addresses, routes, rules }] = await readKernel(node);
  const files = await node.sh(['sh', '-c', foreignFiles]);
  return {
    links: sorted(links.filter(({ ifname }) => isForeign(ifname))),
    addresses: sorted(addresses.filter(({ ifname }) => isForeign(ifname))),
    routes: sorted(routes.filter(({ dev }) => dev === undefined || isForeign(dev))),
    rules: sorted(rules.filter(({ priority }) => !isOurPriority(priority))),
    files,
  };
}

async function readKernel(node: Node) {
  const [links = [], ...family] = await read(node, ofLinks, ...ofFamily('-4'));
  return [links, familyIn(family)] as const;
}

const ofLinks = '-d link show';

function ofFamily(family: '-4' | '-6'): string[] {
  return ['addr show', 'route show table all', 'rule show'].map((what) => `${family} ${what}`);
}

function familyIn([addresses = [], routes = [], rules = []]: readonly z.infer<typeof records>[]) {
  return { addresses, routes, rules };
}

/** Reads what `ip -j` prints for each of the arguments, in one command: entering a node costs more than `ip`. */
async function read(node: Node, ...questions: readonly string[]) {
  const script = questions.map((args) => `ip -j ${args}; printf '\\0'`).join('\n');
  const printed = await node.sh(['sh', '-ec', script]);
  return printed
    .split('\0')
    .slice(0, -1)
    .map((text) => records.parse(JSON.parse(text)));
}

function isOurs(name: unknown): boolean {
  return typeof name === 'string' && /^multinic[0-8]$/.test(name);
}

function isForeign(name: unknown): boolean {
  return !isOurs(name) && !/^(ens\d+|veth[0-9a-f]{8})$/.test(String(name));
}

function isOurPriority(priority: unknown): boolean {
  return Number(priority) >= 10_100 && Number(priority) <= 10_109;
}

/** What is left of a NIC: a link or another name of one, routes that name it or stand in its table, its rules, its files. */
export async function leftoversOf(node: Node, name: string): Promise<unknown[]> {
  const [links, { routes, rules }] = await readKernel(node);
  const files = await node.sh(['sh', '-c', filesNamed(name)]);
  const index = Number(name.at(-1));
  const names = z.array(z.string()).default([]);
  return [
    ...links.filter(({ ifname, altnames }) => [ifname, ...names.parse(altnames)].includes(name)),
    ...routes.filter(({ dev, table }) => dev === name || Number(table) === 100 + index),
    ...rules.filter(({ priority }) => Number(priority) === 10_100 + index),
    ...files.split('\n').filter(Boolean),
  ];
}

function sorted(list: readonly Readonly<Record<string, unknown>>[]): string[] {
  return list.map((entry) => JSON.stringify(lasting(entry))).toSorted();
}

function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !volatile.has(key))
      .map(([key, inner]) => [key, lasting(inner)]),
  );
}
