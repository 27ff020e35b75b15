#!/usr/bin/env node
import { getHeapStatistics } from 'node:v8';
import { Command } from 'commander';
import { protocols } from './api/job.ts';
import { metricTable } from './api/metrics.ts';
import type { About, Version } from './process/about.ts';
import { commonSettings } from './process/common-settings.ts';
import { createHealth } from './process/health.ts';
import type { HeapOwner } from './process/heap.ts';
import { createLogger, type Logger } from './process/log.ts';
import { createMetrics, measureProcess } from './process/metrics.ts';
import type { OwnPod, PartContext } from './process/part.ts';
import {
  describeSettings,
  readSettings,
  type Settings,
  SettingsError,
  type Values,
} from './process/settings.ts';
import { failedExit, leaveOnSignal, runUntilSignal } from './process/shutdown.ts';
import { dropStartupGarbage } from './process/startup-garbage.ts';
import { thisBuild } from './process/version.ts';
import { systemClock, systemRandom } from './time/clock.ts';

/** Exit status when a setting or an argument cannot be used. */
const usageExit = 2;
/** How long a part may take to end what it has in work; Kubernetes gives a Pod 30 s. */
const graceMs = 25_000;

type Context = PartContext<typeof metricTable>;

type Run = (context: Context, signal: AbortSignal) => Promise<void>;

/** A part as main sees it: what it can be told, and how to make it run with what it was told. */
interface Part {
  readonly settings: Settings;
  readonly configure: (flags: Record<string, string | undefined>) => Configured;
}

interface Configured {
  readonly common: Values<typeof commonSettings>;
  readonly settings: About['settings'];
  readonly run: Run;
}

function part<S extends Settings>(
  settings: S,
  start: (values: Values<S>, context: Context, signal: AbortSignal) => Promise<void>,
): Part {
  return {
    settings: { ...settings, ...commonSettings },
    configure: (flags) => {
      const source = { env: process.env, flags };
      const all = { ...settings, ...commonSettings };
      const values = readSettings(all, source);
      return {
        common: readSettings(commonSettings, source),
        settings: describeSettings(all, values, source),
        run: (context, signal) => start(values, context, signal),
      };
    },
  };
}

/** Whatever runs has limits of its heap; the agent is no server and has no settings. */
type PartName = Exclude<HeapOwner, 'agent'>;

/** Each part is loaded only when it is run: an agent must not pay for an HTTP server. */
const parts: Readonly<Record<PartName, { readonly about: string; load(): Promise<Part> }>> = {
  operator: {
    about:
      'reads OpenStack, plans one node config per node, posts it to Viola; serves the inventory',
    load: async () => {
      const { operatorSettings } = await import('./operator/settings.ts');
      const { startOperator } = await import('./operator/start.ts');
      const { inventorySettings } = await import('./inventory/settings.ts');
      const { startInventory } = await import('./inventory/start.ts');
      return part({ ...operatorSettings, ...inventorySettings }, (values, context, signal) =>
        startOperator(values, context, signal, (inventory, ended) =>
          startInventory(values, context, inventory, ended),
        ),
      );
    },
  },
  viola: {
    about: 'HTTP API that applies node configs in business clusters',
    load: async () => {
      const { violaSettings } = await import('./viola/settings.ts');
      const { startViola } = await import('./viola/start.ts');
      return part(violaSettings, startViola);
    },
  },
  controller: {
    about: 'runs one agent Job per node and reports its result',
    load: async () => {
      const { controllerSettings } = await import('./controller/settings.ts');
      const { startController } = await import('./controller/start.ts');
      return part(controllerSettings, startController);
    },
  },
};

const loadAgent = async () => import('./agent/main-agent.ts');

async function main(argv: readonly string[]): Promise<number> {
  const [name = '', ...rest] = argv;
  if (name === 'agent') {
    return loadAndRun(loadAgent, async ({ agentMain }) => agentMain(rest), failedExit);
  }
  if (name === 'version') {
    console.log(versionText(version()));
    return 0;
  }
  if (isPart(name)) {
    const { [name]: chosen } = parts;
    const load = async () => chosen.load();
    return loadAndRun(load, async (loaded) => runPart(name, loaded, chosen.about, rest), 0);
  }
  if (isCommand(name)) {
    const { cliMain } = await import('./cli/main-cli.ts');
    return cliMain(name, rest);
  }
  console.error(usage());
  return name === '--help' || name === '-h' ? 0 : usageExit;
}

/** Until what is loaded listens for signals itself, one ends the process with `status`: nothing was begun. */
async function loadAndRun<T>(
  load: () => Promise<T>,
  start: (loaded: T) => Promise<number>,
  status: number,
): Promise<number> {
  const listensItself = leaveOnSignal(status);
  const ended = start(await load());
  listensItself();
  return ended;
}

/** Commands of people; loaded only when one is asked for. */
const commands = {
  'register-cluster': 'registers a business cluster with Viola',
} as const;

function isCommand(name: string): boolean {
  return Object.hasOwn(commands, name);
}

function isPart(name: string): name is PartName {
  return Object.hasOwn(parts, name);
}

function usage(): string {
  const lines = Object.entries(parts).map(([name, { about }]) => `  ${name.padEnd(12)}${about}`);
  lines.push(`  ${'agent'.padEnd(12)}configures the NICs of the node it runs on, then ends`);
  lines.push(`  ${'version'.padEnd(12)}says what this build is`);
  const people = Object.entries(commands).map(([name, about]) => `  ${name.padEnd(18)}${about}`);
  return `usage: multinic PART|COMMAND [--help] [options]\n\nparts:\n${lines.join('\n')}\n\ncommands:\n${people.join('\n')}`;
}

function version(): Version {
  return { ...thisBuild(), node: process.version, agentProtocols: protocols };
}

function versionText({ version: number, commit, node, agentProtocols }: Version): string {
  return `multinic ${number}\ncommit ${commit}\nagent protocols ${agentProtocols.join(', ')}\nnode ${node}`;
}

async function runPart(name: string, { settings, configure }: Part, about: string, argv: string[]) {
  const command = partCommand(name, about, settings);
  command.parse(argv, { from: 'user' });
  const chosen = configured(name, () => configure(flagsOf(command, settings)));
  if (!chosen) return usageExit;
  const log = createLogger({ part: name, level: chosen.common.logLevel });
  sayProxies(log, settings);
  const metrics = createMetrics(metricTable);
  measureProcess(metrics);
  sayWhatItIs(metrics, name);
  dropStartupGarbage();
  const context: Context = {
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
    health: createHealth(),
    about: { version: version(), settings: chosen.settings },
    pod: ownPod(process.env),
    selfCheck: chosen.common.selfCheck,
    exit: (why) => {
      log.fatal({ err: why }, 'leaving at once');
      process.exit(1);
    },
  };
  return runUntilSignal((signal) => chosen.run(context, signal), { log, graceMs });
}

function sayWhatItIs(metrics: Context['metrics'], name: string): void {
  metrics.set('multinic_build_info', { part: name, ...thisBuild() }, 1);
  metrics.set('multinic_heap_limit_bytes', { part: name }, getHeapStatistics().heap_size_limit);
}

/** Whoever sets these expects that they hold, and would look for the reason of a time-out elsewhere. */
function sayProxies(log: Logger, settings: Settings): void {
  const used = new Set(Object.values(settings).flatMap(({ env }) => env));
  const set = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].filter(
    (name) =>
      !used.has(name) && (process.env[name] ?? process.env[name.toLowerCase()] ?? '') !== '',
  );
  if (set.length > 0)
    log.warn({ variables: set }, 'not used: all is reached without these proxies');
}

/** What the Pod's manifest says of it by way of the downward API. */
function ownPod({ POD_NAME: name, POD_NAMESPACE: namespace, POD_UID: uid }: NodeJS.ProcessEnv) {
  if (!name || !namespace) return undefined;
  return { name, namespace, ...(uid ? { uid } : {}) } satisfies OwnPod;
}

/** Says every setting that cannot be used, and answers undefined then. */
function configured(name: string, configure: () => Configured): Configured | undefined {
  try {
    return configure();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(`multinic ${name} cannot start:\n${error.message}`);
    return undefined;
  }
}

function partCommand(name: string, about: string, settings: Settings): Command {
  const command = new Command(`multinic ${name}`).description(about).allowExcessArguments(false);
  for (const { flag, env, description } of Object.values(settings)) {
    command.option(`--${flag} <value>`, `${description} [${env.join(', ')}]`);
  }
  return command;
}

function flagsOf(command: Command, settings: Settings): Record<string, string | undefined> {
  const given = command.opts<Record<string, string | undefined>>();
  return Object.fromEntries(
    Object.values(settings).map(({ flag }) => [flag, given[optionKey(flag)]]),
  );
}

/** The key under which commander keeps a flag: `tls-cert` is `tlsCert`. */
function optionKey(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

process.exitCode = await main(process.argv.slice(2));
