import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';

/** Keys differing between hosts or over time, and mere counters. */
const volatile = new Set([
  'ifindex',
  'link_index',
  'link_netnsid',
  'operstate',
  'qdisc',
  'tentative',
  'valid_life_time',
  'preferred_life_time',
  'link',
]);

export interface HostState {
  readonly links: readonly string[];
  readonly routes: readonly string[];
  readonly rules: readonly string[];
  /** Text by file name in /etc/netplan. */
  readonly files: Readonly<Record<string, string>>;
}

/** Returns the host's network state and network files, as sets comparable between hosts. */
export async function stateOf(host: NamespaceHost): Promise<HostState> {
  const [links, addresses, routes, rules4, rules6] = await Promise.all([
    host.ipJson('-d', 'link', 'show'),
    host.ipJson('addr', 'show'),
    host.ipJson('-d', 'route', 'show', 'table', 'all'),
    host.ipJson('-d', 'rule', 'show'),
    host.ipJson('-6', '-d', 'rule', 'show'),
  ]);
  return {
    links: [...lines(links), ...lines(addresses)],
    routes: lines(routes),
    rules: [...lines(rules4), ...lines(rules6)],
    files: await filesOf(host),
  };
}

/** Returns files in /etc/netplan, hidden files included, without backups, which stay after a release. */
export async function filesOf({ root }: NamespaceHost): Promise<Record<string, string>> {
  const directory = join(root, 'etc/netplan');
  const names = (await readdir(directory)).filter((name) => name !== 'backup').toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return Object.fromEntries(names.map((name, i) => [name, texts[i] ?? '']));
}

/** Returns the state without lines containing these words. */
export function without(state: HostState, ...words: readonly string[]): HostState {
  const keep = (line: string) => !words.some((word) => line.includes(word));
  return {
    links: state.links.filter(keep),
    routes: state.routes.filter(keep),
    rules: state.rules.filter(keep),
    files: Object.fromEntries(Object.entries(state.files).filter(([name]) => keep(name))),
  };
}

function lines(json: unknown): string[] {
  return (json as unknown[]).map((entry) => JSON.stringify(entry, stable)).toSorted();
}

function stable(key: string, value: unknown): unknown {
  if (volatile.has(key)) return undefined;
  if (key !== 'flags') return value;
  const flags = value as string[];
  return flags.filter((flag) => !['LOWER_UP', 'NO-CARRIER', 'linkdown'].includes(flag)).toSorted();
}
