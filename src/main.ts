#!/usr/bin/env node
import { protocols } from './api/job.ts';
import { sourceFields } from './api/source-fields.ts';
import type { Version } from './process/about.ts';
import { exitOnSignal, failedExit, usageExit } from './process/shutdown.ts';
import { thisBuild } from './process/version.ts';
import type { PartName } from './runtime/part-process.ts';

// Every process loads these imports, and an agent starts again for each node change.

const parts: Readonly<Record<PartName, string>> = {
  operator:
    'reads OpenStack, plans one node config per node, posts it to Viola; serves the inventory',
  viola: 'HTTP API that applies node configs in business clusters',
  controller: 'runs one agent Job per node and reports its result',
  lifecycle: 'installs and protects the operator, MariaDB and backups of a MultiNicOperator',
};

const loadAgent = async () => import('./agent/main-agent.ts');

async function main(argv: readonly string[]): Promise<number> {
  const [name = '', ...rest] = argv;
  if (name === 'agent') {
    return loadAndRun(loadAgent, async ({ agentMain }) => agentMain(rest), failedExit);
  }
  // The agent's image has no other user commands.
  if (isOneOf(name, ['--version', '-V']) || (name === 'version' && rest.length === 0)) {
    console.log(versionText(version()));
    return 0;
  }
  if (isPart(name)) {
    const load = async () => (await import('./main-part.ts')).loadPart(name);
    return loadAndRun(load, async (run) => run(parts[name], version(), rest), 0);
  }
  if (isCommand(name)) {
    const { cliMain } = await import('./cli/main-cli.ts');
    return cliMain(name, rest);
  }
  if (isOneOf(name, ['help', '--help', '-h'])) {
    console.log(usage());
    return 0;
  }
  console.error(name === '' ? usage() : await unknownWord(name));
  return usageExit;
}

function isOneOf(word: string, words: readonly string[]): boolean {
  return words.includes(word);
}

/** Names the nearest part, command or option: a typing error is found faster than in a list. */
async function unknownWord(word: string): Promise<string> {
  const { suggestionFor } = await import('./process/nearest.ts');
  const isOption = word.startsWith('-');
  const known = isOption
    ? ['--help', '--version']
    : [...Object.keys(parts), ...Object.keys(commands), 'agent', 'help'];
  const what = isOption ? 'option' : 'command';
  const unknown = `multinic: unknown ${what} \`${word}\`${suggestionFor(word, known)}`;
  return `${unknown}\nrun multinic --help for all parts and commands`;
}

/** Loads and runs a part. During loading a signal exits with `status`, because no work was started. */
async function loadAndRun<T>(
  load: () => Promise<T>,
  start: (loaded: T) => Promise<number>,
  status: number,
): Promise<number> {
  const stopExiting = exitOnSignal(status);
  const loaded = await load();
  // Loading blocks the event loop, and pending signals arrive in the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  const ended = start(loaded);
  stopExiting();
  return ended;
}

/** User commands, loaded on demand. */
const commands = {
  status: 'health of all parts, OpenstackConfigs, business clusters and findings',
  nodes: 'lists nodes with state, reason and last check',
  nics: 'lists NICs, and ports that are not NICs',
  why: 'explains why a port is a NIC or not',
  plan: 'shows what the next sync would do, or a what-if; changes nothing',
  diff: 'shows a node beside what was applied',
  sync: 'requests a sync and waits, or checks and heals a node',
  'allow-removals': 'shows the removals that wait for consent, and consents to exactly these',
  dashboard: 'serves the dashboard on this machine, with your own rights',
  doctor: 'runs all checks; findings with evidence and next step',
  'support-bundle': 'writes an archive for support, without Secrets',
  'register-cluster': 'registers a business cluster with Viola',
  migrate: 'moves the nodes of a MultiNicBizConfig to one MultiNicNodeConfig per node',
  completion: 'prints a completion script for bash, zsh or fish',
  version: 'prints version and commit of this build',
} as const;

function isCommand(name: string): boolean {
  return Object.hasOwn(commands, name);
}

function isPart(name: string): name is PartName {
  return Object.hasOwn(parts, name);
}

function usage(): string {
  const lines = Object.entries(parts).map(([name, about]) => `  ${name.padEnd(12)}${about}`);
  lines.push(`  ${'agent'.padEnd(12)}configures the NICs of the node it runs on, then ends`);
  const people = Object.entries(commands).map(([name, about]) => `  ${name.padEnd(18)}${about}`);
  return `usage: multinic PART|COMMAND [--help] [options]\n\nparts:\n${lines.join('\n')}\n\ncommands:\n${people.join('\n')}`;
}

function version(): Version {
  return {
    ...thisBuild(),
    node: process.version,
    agentProtocols: protocols,
    sourceFields,
  };
}

function versionText({ version: number, commit, node, agentProtocols }: Version): string {
  return `multinic ${number}\ncommit ${commit}\nagent protocols ${agentProtocols.join(', ')}\nnode ${node}`;
}

process.exitCode = await main(process.argv.slice(2));
