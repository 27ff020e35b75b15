/** A host with readable state. */
export interface ObservedNic {
  /** Output of `ip -j ARGS`. */
  json(...args: readonly string[]): Promise<readonly Shown[]>;
  /** Standard output. */
  sh(...command: readonly string[]): Promise<string>;
}

/** Kernel state of our NICs, in a form comparable between network managers. */
export interface NicsState {
  readonly links: readonly string[];
  readonly addresses: readonly string[];
  readonly routes: readonly string[];
  readonly rules: readonly string[];
  readonly settings: readonly string[];
}

/** Settings on our NICs. */
const settings = [
  'ipv4.conf.NIC.rp_filter',
  'ipv4.conf.NIC.arp_ignore',
  'ipv4.conf.NIC.arp_announce',
  'ipv6.conf.NIC.accept_ra',
];

/**
 * Removes protocol, ifindex and counters, the metric of connected routes (set by NetworkManager), and link-local IPv6 addresses (set by the
 * kernel).
 */
export async function stateOf(cell: ObservedNic): Promise<NicsState> {
  const [links, routes4, routes6, rules4, rules6] = await Promise.all([
    cell.json('addr', 'show'),
    cell.json('-4', '-d', 'route', 'show', 'table', 'all'),
    cell.json('-6', '-d', 'route', 'show', 'table', 'all'),
    cell.json('-4', 'rule', 'show'),
    cell.json('-6', 'rule', 'show'),
  ]);
  const ours = links.filter(({ ifname = '' }) => /^multinic\d$/.test(ifname));
  const names = ours.map(({ ifname = '' }) => ifname);
  return {
    links: ours.map(linkText).toSorted(),
    addresses: ours.flatMap(addressTexts).toSorted(),
    routes: distinct(
      [...routes4, ...routes6]
        .filter(({ dev = '', table }) => names.includes(dev) && table !== 'local')
        .filter(({ dst = '' }) => !/^(fe80::\/64|ff00::\/8)$/.test(dst))
        .map(routeText),
    ),
    rules: [...rules4, ...rules6]
      .filter(({ priority = 0 }) => priority >= 10_100 && priority <= 10_109)
      .map(ruleText)
      .toSorted(),
    settings: (await Promise.all(names.map((name) => settingsOf(cell, name)))).flat().toSorted(),
  };
}

/** Compared fields of a link, route or rule in `ip -j`. */
export interface Shown {
  readonly ifname?: string;
  readonly address?: string;
  readonly mtu?: number;
  readonly flags?: readonly string[];
  readonly addr_info?: readonly ShownAddress[];
  readonly type?: string;
  readonly dst?: string;
  readonly gateway?: string;
  readonly dev?: string;
  readonly table?: string;
  readonly scope?: string;
  readonly prefsrc?: string;
  readonly metric?: number;
  readonly priority?: number;
  readonly src?: string;
  readonly srclen?: number;
}

interface ShownAddress {
  readonly family: string;
  readonly local: string;
  readonly prefixlen: number;
  readonly broadcast?: string;
  readonly scope: string;
  readonly tentative?: boolean;
  readonly dynamic?: boolean;
}

function linkText({ ifname, address, mtu, flags = [] }: Shown): string {
  return `${ifname} ${address} mtu ${mtu} ${flags.includes('UP') ? 'up' : 'down'}`;
}

function addressTexts({ ifname, addr_info: list = [] }: Shown): string[] {
  return list
    .filter(({ scope, family }) => family === 'inet' || scope !== 'link')
    .map(({ local, prefixlen, broadcast, scope, tentative, dynamic }) =>
      words(
        `${ifname} ${local}/${prefixlen}`,
        broadcast && `brd ${broadcast}`,
        scope,
        tentative && 'tentative',
        dynamic && 'dynamic',
      ),
    );
}

function routeText(route: Shown): string {
  const { type, dst = '', gateway, dev, table = 'main', scope, prefsrc, metric } = route;
  return words(
    type === 'unicast' ? '' : type,
    dst,
    gateway && `via ${gateway}`,
    `dev ${dev} table ${table}`,
    scope && !dst.includes(':') && `scope ${scope}`,
    // NetworkManager creates a connected route per address in the subnet, the kernel only for the first.
    ...(isConnected(route) ? [] : [prefsrc && `src ${prefsrc}`, `metric ${metric ?? 0}`]),
  );
}

function isConnected({ gateway, table = 'main' }: Shown): boolean {
  return gateway === undefined && table === 'main';
}

function distinct(list: readonly string[]): string[] {
  return [...new Set(list)].toSorted();
}

function ruleText({ priority, src, srclen, table }: Shown): string {
  return words(`${priority}: from ${src}`, srclen !== undefined && `/${srclen}`, `lookup ${table}`);
}

function words(...list: readonly (string | false | undefined)[]): string {
  return list.filter(Boolean).join(' ');
}

async function settingsOf(cell: ObservedNic, name: string): Promise<string[]> {
  const keys = settings.map((key) => `net.${key.replace('NIC', name)}`);
  const said = await cell.sh('sysctl', '-e', ...keys);
  return said.split('\n').filter((line) => line !== '');
}

/** Foreign links, routes and rules: all lines without our names, each with the `ip` command. */
export async function foreignStateOf(cell: {
  ip(...args: readonly string[]): Promise<string>;
}): Promise<readonly string[]> {
  const questions = [
    ['-br', 'addr', 'show'],
    ['-4', 'route', 'show', 'table', 'all'],
    ['-6', 'route', 'show', 'table', 'all'],
    ['-4', 'rule', 'show'],
    ['-6', 'rule', 'show'],
  ];
  const answers = questions.map(async (question) => {
    const lines = (await cell.ip(...question)).split('\n').filter((line) => line !== '');
    const others = lines.filter((line) => !/multinic\d|\bens\d|^101\d\d:/.test(line));
    // The columns of links are as wide as their peers' numbers are long.
    const plain = others.map((line) => line.replaceAll(/@if\d+/g, '').replaceAll(/\s+/g, ' '));
    return plain.map((line) => `${question.slice(0, 2).join(' ')}: ${line.trim()}`);
  });
  return (await Promise.all(answers)).flat().toSorted();
}

/** Difference of two states, a line each: `+` only in the first, `-` only in the second. */
export function difference(a: NicsState, b: NicsState | undefined): readonly string[] {
  const [mine, theirs] = [a, b ?? a].map((state) => Object.values(state).flat() as string[]);
  return lineDifference(mine ?? [], theirs ?? []);
}

export function lineDifference(
  mine: readonly string[],
  theirs: readonly string[],
): readonly string[] {
  return [
    ...mine.filter((line) => !theirs.includes(line)).map((line) => `+ ${line}`),
    ...theirs.filter((line) => !mine.includes(line)).map((line) => `- ${line}`),
  ];
}
