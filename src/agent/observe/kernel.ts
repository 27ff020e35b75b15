import type { Address, Link, Route, Rule } from '../host.ts';
import { parseAddresses } from './addresses.ts';
import { parseLinks } from './links.ts';
import { parseRoutes } from './routes.ts';
import { parseRules } from './rules.ts';

export interface KernelState {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  /** Of IPv4 alone: the kernel keeps rules and tables of the two families apart, and ours are of IPv4. */
  readonly rules: readonly Rule[];
}

/**
 * Lines that ask for everything the agent looks at; starting a process costs more than asking, so one answers all. Routes
 * name their links, which may get other names meanwhile: they are asked for between the two that tell index and name.
 */
export const questions = ['link show', 'route show table all', 'rule show', 'addr show'] as const;

/** What `ip -N -j -d` answered to the questions, in their order; undefined when a link had two names on the way. */
export function parseKernelState(answers: readonly string[]): KernelState | undefined {
  const [linkShow = '', routes = '', rules = '', addressShow = ''] = answers;
  const links = parseLinks(linkShow);
  const groups = parseAddresses(addressShow);
  if (groups.some(({ index, name }) => isRenamed(links, index, name))) return undefined;
  // A link that came meanwhile is seen next time.
  const indexes = new Set(links.map(({ index }) => index));
  return {
    links,
    addresses: groups.flatMap(({ index, addresses }) => (indexes.has(index) ? addresses : [])),
    routes: parseRoutes(routes),
    rules: parseRules(rules),
  };
}

/** Whether a name has changed hands, or a link its name. */
function isRenamed(links: readonly Link[], index: number, name: string): boolean {
  return links.some((link) => (link.index === index) !== (link.name === name));
}
