import type { Wording } from '../api/texts/text.ts';
import { shellWord } from '../explain/commands.ts';
import type { UnreadSource } from '../explain/conclusion.ts';
import type { Finding, SectionReport } from '../explain/finding.ts';
import type { NextStep } from '../explain/step.ts';
import { Failure } from './access/failure.ts';
import type { AccessOptions } from './access/options.ts';
import { choiceOf, flagText } from './access/sources.ts';
import { Unread } from './access/unread.ts';

/** Adds the user's access options to the commands of a next step: a copied command works with the same clusters and operator. */
export function inContext<T extends NextStep | undefined>(
  next: T,
  options: AccessOptions,
  provider: string | undefined,
): T {
  if (next === undefined) return next;
  const complete = (command: string) => commandInContext(command, options, provider);
  return { ...next, commands: next.commands.map(complete), preview: next.preview.map(complete) };
}

/** Returns the reports with next steps for the user's clusters; a finding's subject begins with its business cluster. */
export function inContextOf(
  sections: readonly SectionReport[],
  options: AccessOptions,
): SectionReport[] {
  return sections.map((section) => ({
    ...section,
    findings: section.findings.map((finding) => ({
      ...finding,
      next: inContext(finding.next, options, providerOf(finding)),
    })),
  }));
}

/** Returns the business cluster in a finding's subject; undefined: a part in the management cluster. */
function providerOf({ section, subject }: Finding): string | undefined {
  const [first, ...rest] = subject.split('/');
  return section === 'parts' && rest.length === 0 ? undefined : first;
}

/** Adds the user's access options to the commands for unread sources; grants name a business cluster's context. */
export function sourcesInContext(
  unread: readonly UnreadSource[],
  options: AccessOptions,
): UnreadSource[] {
  return unread.map((each) =>
    each.source === 'business cluster'
      ? each
      : { ...each, next: each.next.map((text) => wordingInContext(text, options)) },
  );
}

/** Returns the error with the user's access options in the commands of its next step. */
export function errorInContext(error: unknown, options: AccessOptions): unknown {
  if (error instanceof Unread) return new Unread(error.why, wordingInContext(error.next, options));
  return error instanceof Failure ? error.withNext(textInContext(error.next, options)) : error;
}

function wordingInContext({ en, ko }: Wording, options: AccessOptions): Wording {
  return { en: textInContext(en, options), ko: textInContext(ko, options) };
}

const ownCommand = /kubectl multinic [a-z-]+/g;
const managementGrant = /kubectl (?=(?:-n \S+ )?create (?:cluster)?rolebinding )/g;

/** Completes the commands of `multinic` and the grants within a text. */
export function textInContext(text: string, options: AccessOptions): string {
  if (text.startsWith('kubectl ')) return commandInContext(text, options);
  return text
    .replace(ownCommand, (command) => commandInContext(command, options))
    .replace(managementGrant, () => `${joined('kubectl', managementFlags(options))} `);
}

/** Returns a command with the user's access options; `provider` undefined: management cluster. */
export function commandInContext(
  command: string,
  options: AccessOptions,
  provider?: string,
): string {
  if (!command.startsWith('kubectl ')) return command;
  if (command.startsWith('kubectl multinic register-cluster')) {
    return joined(command, registrationFlags(options));
  }
  if (command.startsWith('kubectl multinic ')) return joined(command, ownFlags(command, options));
  const cluster = command.includes(' osc ') ? undefined : provider;
  const flags = flagText(
    choiceOf(options, cluster) ?? { kubeconfig: options.kubeconfig, context: undefined },
  );
  return command.replace(/^kubectl /, () => `${joined('kubectl', flags)} `);
}

function managementFlags({ kubeconfig, context }: AccessOptions): string {
  return flagText({ kubeconfig, context });
}

/** `--context` of register-cluster was a business cluster's. */
function registrationFlags({ kubeconfig, context }: AccessOptions): string {
  return joined(
    ...given({ '--management-kubeconfig': kubeconfig, '--management-context': context }),
  );
}

/** Commands that read business clusters. */
const readsBusiness = /^kubectl multinic (?:status|doctor|why|diff|support-bundle)\b/;

function ownFlags(command: string, options: AccessOptions): string {
  const { operatorNamespace, inventory, tokenFile, businessContext, businessKubeconfig } = options;
  const business = readsBusiness.test(command)
    ? [
        ...pairs('--business-context', businessContext),
        ...pairs('--business-kubeconfig', businessKubeconfig ?? new Map<string, string>()),
      ]
    : [];
  const single = given({
    '--operator-namespace': operatorNamespace,
    '--inventory': inventory,
    '--token-file': tokenFile,
  });
  return joined(managementFlags(options), ...single, ...business.map(shellWord));
}

/** Returns the options that have a value, as shell words. */
function given(options: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [name, shellWord(value)],
  );
}

function pairs(name: string, values: ReadonlyMap<string, string>): string[] {
  return [...values].flatMap(([provider, value]) => [name, `${provider}=${value}`]);
}

function joined(...words: readonly string[]): string {
  return words.filter((word) => word !== '').join(' ');
}
