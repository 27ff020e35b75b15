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

/** Returns a command with the user's --kubeconfig and --context. */
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
    choiceOf(options, isManagement ? undefined : (provider ?? '')) ?? {
      kubeconfig: options.kubeconfig,
      context: undefined,
    },
  );
  if (flags === '') return command;
  return command.startsWith('kubectl multinic ')
    ? `${command} ${flags}`
    : command.replace(/^kubectl /, `kubectl ${flags} `);
}
