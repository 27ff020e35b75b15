import type { UnreadSource } from '../../explain/conclusion.ts';
import type { NextStep } from '../../explain/step.ts';
import { type AccessChoice, choiceOf, flagText } from '../access/sources.ts';

/**
 * Adds the user's --kubeconfig and --context to the commands of a next step: without them a copied command would change
 * the cluster of the current context.
 */
export function inContext<T extends NextStep | undefined>(
  next: T,
  options: AccessChoice,
  provider: string | undefined,
): T {
  if (next === undefined) return next;
  const complete = (command: string) => commandInContext(command, options, provider);
  return { ...next, commands: next.commands.map(complete), preview: next.preview.map(complete) };
}

/** Adds the user's --kubeconfig and --context to the commands for unread sources; grants name a business cluster's context. */
export function sourcesInContext(
  unread: readonly UnreadSource[],
  options: AccessChoice,
): UnreadSource[] {
  const complete = (text: string) => commandInContext(text, options);
  return unread.map((each) =>
    each.source === 'business cluster'
      ? each
      : { ...each, next: each.next.map(({ en, ko }) => ({ en: complete(en), ko: complete(ko) })) },
  );
}

/** Returns a command with the user's --kubeconfig and --context; `provider` undefined: management cluster. */
export function commandInContext(
  command: string,
  options: AccessChoice,
  provider?: string,
): string {
  // Its --kubeconfig is that of the business cluster.
  if (!command.startsWith('kubectl ') || command.startsWith('kubectl multinic register-'))
    return command;
  const isManagement = /^kubectl multinic | osc /.test(command);
  const flags = flagText(
    choiceOf(options, isManagement ? undefined : provider) ?? {
      kubeconfig: options.kubeconfig,
      context: undefined,
    },
  );
  if (flags === '') return command;
  return command.startsWith('kubectl multinic ')
    ? `${command} ${flags}`
    : command.replace(/^kubectl /, `kubectl ${flags} `);
}
