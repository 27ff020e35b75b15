import { getHeapStatistics } from 'node:v8';
import { Command, Option } from 'commander';
import { metricTable } from './api/metrics.ts';
import type { About, Version } from './process/about.ts';
import { commonSettings } from './process/common-settings.ts';
import { createHealth } from './process/health.ts';
import type { HeapOwner } from './process/heap.ts';
import { createLogger, type Logger } from './process/log.ts';
import { createMetrics, measureProcess } from './process/metrics.ts';
import type { OwnPod, PartContext } from './process/part.ts';
import { shownDefault } from './process/setting-default.ts';
import {
  type DeprecatedUse,
  deprecatedIn,
  describeSettings,
  readSettings,
  type Settings,
  SettingsError,
  type Values,
} from './process/settings.ts';
import { runUntilSignal, usageExit } from './process/shutdown.ts';
import { dropStartupGarbage } from './process/startup-garbage.ts';
import type { Build } from './process/version.ts';
import { systemClock, systemRandom } from './time/clock.ts';

/** How long a part may take to end what it has in work; Kubernetes gives a Pod 30 s. */
const graceMs = 25_000;

/** Whatever runs has limits of its heap; the agent is no server and has no settings. */
export type PartName = Exclude<HeapOwner, 'agent'>;

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
  readonly deprecated: readonly DeprecatedUse[];
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
        deprecated: deprecatedIn(all, source),
        run: (context, signal) => start(values, context, signal),
      };
    },
  };
}

/** No part pays for what only another one uses. */
const parts: Readonly<Record<PartName, () => Promise<Part>>> = {
  operator: async () => {
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
  viola: async () => {
    const { violaSettings } = await import('./viola/settings.ts');
    const { startViola } = await import('./viola/start.ts');
    return part(violaSettings, startViola);
  },
  controller: async () => {
    const { controllerSettings } = await import('./controller/settings.ts');
    const { startController } = await import('./controller/start.ts');
    return part(controllerSettings, startController);
  },
  lifecycle: async () => {
    const { lifecycleSettings } = await import('./lifecycle/settings.ts');
    const { startLifecycle } = await import('./lifecycle/start.ts');
    return part(lifecycleSettings, startLifecycle);
  },
};

/** A part that is loaded, with all of its modules. */
export type Loaded = (about: string, version: Version, argv: readonly string[]) => Promise<number>;

export async function loadPart(name: PartName): Promise<Loaded> {
  const { [name]: load } = parts;
  const loaded = await load();
  return (about, version, argv) => runPart(name, loaded, about, version, argv);
}

/** Resolves to the exit status. */
async function runPart(
  name: PartName,
  { settings, configure }: Part,
  about: string,
  version: Version,
  argv: readonly string[],
): Promise<number> {
  const command = partCommand(name, about, settings);
  command.parse(argv, { from: 'user' });
  const chosen = configured(name, () => configure(flagsOf(command, settings)));
  if (!chosen) return usageExit;
  const log = createLogger({ part: name, level: chosen.common.logLevel });
  warnOfDeprecated(log, chosen.deprecated);
  sayProxies(log, settings);
  const metrics = createMetrics(metricTable);
  measureProcess(metrics);
  sayWhatItIs(metrics, name, version);
  dropStartupGarbage();
  const context: Context = {
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
    health: createHealth(),
    about: { version, settings: chosen.settings },
    pod: ownPod(process.env),
    processName: process.env['POD_NAME'] || process.env['HOSTNAME'] || undefined,
    selfCheck: chosen.common.selfCheck,
    exit: (why) => {
      log.fatal({ err: why }, 'leaving at once');
      process.exit(1);
    },
  };
  return runUntilSignal((signal) => chosen.run(context, signal), { log, graceMs });
}

function sayWhatItIs(metrics: Context['metrics'], name: string, build: Build): void {
  const { version, commit } = build;
  metrics.set('multinic_build_info', { part: name, version, commit }, 1);
  metrics.set('multinic_heap_limit_bytes', { part: name }, getHeapStatistics().heap_size_limit);
}

/** Logs one warning per deprecated setting: a removed flag must not keep a part from starting. */
function warnOfDeprecated(log: Logger, used: readonly DeprecatedUse[]): void {
  for (const { name, instead, isIgnored } of used) {
    const state = isIgnored ? 'is removed and has no effect' : 'is deprecated';
    log.warn({ setting: name }, `${name} ${state}: ${instead}; support ends with the next release`);
  }
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
  for (const each of Object.values(settings)) {
    const { flag, env, description, deprecated } = each;
    const text = `${description} Default: ${shownDefault(each)}. [${env.join(', ')}]`;
    command.addOption(new Option(`--${flag} <value>`, text).hideHelp(deprecated !== undefined));
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
