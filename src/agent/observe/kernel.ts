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

/** Lines that ask for everything the agent looks at; starting a process costs more than asking, so one answers all. */
export const questions = ['link show', 'addr show', 'route show table all', 'rule show'] as const;

/** What `ip -N -j -d` answered to the questions, in their order. */
export function parseKernelState(answers: readonly string[]): KernelState {
  const [links = '', addresses = '', routes = '', rules = ''] = answers;
  return {
    links: parseLinks(links),
    addresses: parseAddresses(addresses),
    routes: parseRoutes(routes),
    rules: parseRules(rules),
  };
}
