import { getHeapStatistics } from 'node:v8';
import { Command, Option } from 'commander';
import { metricTable } from '../api/metrics.ts';
import { AccessError } from '../kube/access/access-error.ts';
import type { About, Version } from '../process/about.ts';
import { statusOf } from '../process/command-line.ts';
import { commonSettings } from '../process/common-settings.ts';
import { createHealth } from '../process/health.ts';
import type { HeapOwner } from '../process/heap.ts';
import { createLogger, type Logger } from '../process/log.ts';
import { releaseMemoryRegularly } from '../process/memory-release.ts';
import { createMetrics, measureProcess } from '../process/metrics.ts';
import type { OwnPod, PartContext } from '../process/part.ts';
import { shownDefault } from '../process/setting-default.ts';
import {
  type DeprecatedUse,
  deprecatedIn,
  describeSettings,
  readSettings,
  type Settings,
  SettingsError,
  type Values,
} from '../process/settings.ts';
import { runUntilSignal, usageExit } from '../process/shutdown.ts';
import { UnusableSettingError } from '../process/unusable-setting.ts';
import type { Build } from '../process/version.ts';
import { systemClock, systemRandom } from '../time/clock.ts';

/** Grace period for finishing current work; Kubernetes allows a Pod 30 s. */
const graceMs = 25_000;

/** Every heap owner except the agent, because the agent is no server and has no settings. */
export type PartName = Exclude<HeapOwner, 'agent'>;

type Context = PartContext<typeof metricTable>;

type Run = (context: Context, signal: AbortSignal) => Promise<void>;

/** A part's settings, and a function that configures the part from flags. */
export interface Part {
  readonly settings: Settings;
  readonly configure: (flags: Record<string, string | undefined>) => Configured;
}

interface Configured {
  readonly common: Values<typeof commonSettings>;
  readonly settings: About['settings'];
  readonly deprecated: readonly DeprecatedUse[];
  readonly run: Run;
}

/** Defines a part by its settings and its start function. */
export function part<S extends Settings>(
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

/** Runs a part in this process until a signal arrives. Resolves to the exit status. */
export async function runPartProcess(
  name: PartName,
  { settings, configure }: Part,
  about: string,
  version: Version,
  argv: readonly string[],
): Promise<number> {
  const command = partCommand(name, about, settings);
  const ended = await statusOf(command, () => command.parseAsync(argv, { from: 'user' }));
  if (ended !== undefined) return ended;
  const chosen = configured(name, () => configure(flagsOf(command, settings)));
  if (!chosen) return usageExit;
  const log = createLogger({ part: name, level: chosen.common.logLevel });
  warnOfDeprecated(log, chosen.deprecated);
  warnAboutProxies(log, settings);
  const metrics = createMetrics(metricTable);
  measureProcess(metrics);
  setBuildMetrics(metrics, name, version);
  releaseMemoryRegularly();
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
      log.fatal({ err: why }, 'exiting at once');
      process.exit(1);
    },
  };
  return runUntilSignal((signal) => orSettingError(name, chosen.run(context, signal)), {
    log,
    graceMs,
  });
}

/** Reports an unusable setting, at the start or when its file disappears later: in one line with what to do, without a stack. */
async function orSettingError(name: string, running: Promise<void>): Promise<number | void> {
  try {
    await running;
  } catch (error) {
    const next = nextStepOf(error);
    if (next === undefined) throw error;
    console.error(`multinic ${name} cannot run: ${(error as Error).message}${next}`);
    return usageExit;
  }
}

/**
 * Returns the line that says what to do about an error; empty when its message does, undefined when no setting causes it.
 */
function nextStepOf(error: unknown): string | undefined {
  if (error instanceof UnusableSettingError) return '';
  if (error instanceof AccessError) return `\nNext: ${error.next}`;
  const { code, path } = error as NodeJS.ErrnoException;
  const isUnreadable = ['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR'].includes(code ?? '');
  if (!isUnreadable || path === undefined) return undefined;
  return `\nNext: make ${path} readable, or correct the setting that names it`;
}

function setBuildMetrics(metrics: Context['metrics'], name: string, build: Build): void {
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

/**
 * Warns about ignored proxy variables: users expect them to work and would search elsewhere for a timeout's cause.
 */
function warnAboutProxies(log: Logger, settings: Settings): void {
  const used = new Set(Object.values(settings).flatMap(({ env }) => env));
  const set = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].filter(
    (name) =>
      !used.has(name) && (process.env[name] ?? process.env[name.toLowerCase()] ?? '') !== '',
  );
  if (set.length > 0)
    log.warn({ variables: set }, 'proxy variables ignored: this part connects without them');
}

/** Returns the Pod from the downward API variables. */
function ownPod({ POD_NAME: name, POD_NAMESPACE: namespace, POD_UID: uid }: NodeJS.ProcessEnv) {
  if (!name || !namespace) return undefined;
  return { name, namespace, ...(uid ? { uid } : {}) } satisfies OwnPod;
}

/** Prints every unusable setting and returns undefined if any exists. */
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
  const options = command.opts<Record<string, string | undefined>>();
  return Object.fromEntries(
    Object.values(settings).map(({ flag }) => [flag, options[optionKey(flag)]]),
  );
}

/** Returns commander's key for a flag: `tls-cert` becomes `tlsCert`. */
function optionKey(flag: string): string {
  return flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
