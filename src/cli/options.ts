import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Language } from '../api/texts/text.ts';
import { parseDuration } from '../process/duration.ts';
import { type AccessOptions, usualRequestTimeoutMs } from '../session/access/options.ts';
import { WrongUsage } from './refusal.ts';

export type OutputForm = 'table' | 'wide' | 'json' | 'yaml' | 'name';
export type FailOn = 'error' | 'warning' | 'never';

export interface CommonOptions extends AccessOptions {
  /** Namespace of OpenstackConfigs; undefined: all namespaces. */
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  /** True with --allow-incomplete: a required source without an answer does not change the exit status. */
  readonly allowIncomplete?: boolean;
  readonly output: OutputForm;
  /** False with --no-headers. */
  readonly headers: boolean;
  readonly lang: Language;
}

/** Adds the options of every command that reads clusters. */
export function withCommonOptions(command: Command, forms: readonly OutputForm[]): Command {
  return withAccessOptions(command)
    .option('-n, --namespace <name>', 'namespace of the OpenstackConfigs; default: all namespaces')
    .option('-A, --all-namespaces', 'OpenstackConfigs of all namespaces (the default)')
    .addOption(outputOption(forms))
    .option(
      '--allow-incomplete',
      'end with exit status 0 instead of 6 if a required source does not answer',
      false,
    )
    .option('--no-headers', 'omit the header line of tables')
    .addOption(languageOption());
}

export function withAccessOptions(command: Command): Command {
  return command
    .option('--kubeconfig <path>', 'kubeconfig; default: KUBECONFIG, else ~/.kube/config')
    .option('--context <name>', 'context of the management cluster; default: the current one')
    .option(
      '--operator-namespace <name>',
      'namespace of the operator; default: multinic-operator-system, then multinic-system',
    )
    .addOption(
      new Option(
        '--business-context <provider=context>',
        'context of a business cluster, for its Nodes, Jobs and Pods (repeatable)',
      )
        .argParser(addContext)
        .default(new Map<string, string>(), 'none'),
    )
    .addOption(
      new Option(
        '--business-kubeconfig <provider=path>',
        'kubeconfig of a business cluster; default: the one of the management cluster (repeatable)',
      )
        .argParser(addKubeconfig)
        .default(new Map<string, string>(), 'none'),
    )
    .addOption(
      new Option(
        '--request-timeout <duration>',
        'longest wait for the answer of one source: a cluster, or the API of the operator',
      )
        .argParser(requestTimeoutOf)
        .default(usualRequestTimeoutMs, '10s'),
    )
    .addOption(
      new Option(
        '--inventory <url>',
        "URL of the operator's API, instead of kubectl port-forward",
      ).argParser(inventoryOf),
    )
    .option('--token-file <path>', 'file with the bearer token for --inventory');
}

export function outputOption(forms: readonly OutputForm[]): Option {
  return new Option('-o, --output <form>', 'form of the output')
    .choices([...forms])
    .default('table');
}

export function languageOption(): Option {
  return new Option('--lang <language>', 'language of texts; default: the one of LANG')
    .choices(['en', 'ko'])
    .default(usualLanguage(process.env), 'LANG');
}

/** Adds `--fail-on`: the lowest severity with exit status 5. */
export function withFailOn(command: Command): Command {
  return command.addOption(
    new Option('--fail-on <severity>', 'lowest severity of findings that ends with exit status 5')
      .choices(['error', 'warning', 'never'])
      .default('error'),
  );
}

function usualLanguage({ LC_ALL: all, LC_MESSAGES: messages, LANG: lang }: NodeJS.ProcessEnv) {
  return (all || messages || lang || '').startsWith('ko') ? 'ko' : 'en';
}

function addContext(text: string, before: ReadonlyMap<string, string>): Map<string, string> {
  return added(text, before, 'give PROVIDER=CONTEXT, for example biz-1=prod-biz-1.');
}

function addKubeconfig(text: string, before: ReadonlyMap<string, string>): Map<string, string> {
  return added(text, before, 'give PROVIDER=FILE, for example biz-1=/home/me/biz-1.kubeconfig.');
}

function added(
  text: string,
  before: ReadonlyMap<string, string>,
  usage: string,
): Map<string, string> {
  const [provider = '', ...rest] = text.split('=');
  const value = rest.join('=');
  if (provider === '' || value === '') throw new InvalidArgumentError(usage);
  return new Map([...before, [provider, value]]);
}

/** commander prints a refused value, and this value may hold a password: the messages name only parts of the value. */
function inventoryOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    const shown = text.includes('@') ? '' : ` "${text.replace(/[?#].*/s, '')}"`;
    throw new WrongUsage(
      `--inventory${shown} is not an http or https URL`,
      'give for example --inventory https://multinic.example:18081',
    );
  }
  const { username, password, origin } = url;
  if (username === '' && password === '') return text;
  throw new WrongUsage(
    `--inventory ${origin}: the URL must not hold a user name or a password`,
    'give the URL without them, and a bearer token with --token-file FILE',
  );
}

function requestTimeoutOf(text: string): number {
  const milliseconds = parseDuration(text) ?? Number.NaN;
  if (milliseconds >= 1) return milliseconds;
  throw new InvalidArgumentError('give a duration above 0, for example 30s.');
}
