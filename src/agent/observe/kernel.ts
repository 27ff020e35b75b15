import type { Address, Link, Route, Rule } from '../host.ts';
import type { RunIp } from '../ip-command.ts';
import { parseAddresses } from './addresses.ts';
import { parseLinks } from './links.ts';
import { parseRoutes } from './routes.ts';
import { parseRules } from './rules.ts';

export interface KernelState {
  readonly links: readonly Link[];
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
  readonly rules: readonly Rule[];
}

/** Numbers instead of names, which a host may redefine in /etc/iproute2, and every attribute. */
const form = ['-N', '-j', '-d'];
const questions = ['link show', 'addr show', 'route show table all', 'rule show'];

/**
 * Links, addresses, routes of every table and rules of this network namespace. One `ip` answers all but the IPv6 rules,
 * each answer on a line of its own: starting a process costs more than asking.
 */
export async function observeKernel(runIp: RunIp): Promise<KernelState> {
  const [all, rules6] = await Promise.all([
    ask(runIp, [...form, '-batch', '-'], `${questions.join('\n')}\n`),
    ask(runIp, [...form, '-6', 'rule', 'show'], ''),
  ]);
  const [links, addresses, routes, rules] = all.split('\n').filter((line) => line.trim() !== '');
  if (
    links === undefined ||
    addresses === undefined ||
    routes === undefined ||
    rules === undefined
  ) {
    throw new Error(`ip answered ${questions.length} questions with: ${all.slice(0, 200)}`);
  }
  return {
    links: parseLinks(links),
    addresses: parseAddresses(addresses),
    routes: parseRoutes(routes),
    rules: [...parseRules(rules, 4), ...(rules6.trim() === '' ? [] : parseRules(rules6, 6))],
  };
}

async function ask(runIp: RunIp, args: readonly string[], input: string): Promise<string> {
  const { code, stdout, stderr } = await runIp(args, input);
  // A kernel booted with ipv6.disable=1 has no IPv6 rules to show.
  if (code === 0 || stderr.includes('not supported')) return stdout;
  throw new Error(`ip ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
}
