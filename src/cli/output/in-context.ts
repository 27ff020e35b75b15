import { shellWord } from '../../explain/commands.ts';
import type { NextStep } from '../../explain/step.ts';
import type { AccessOptions } from '../options.ts';

type Choice = Pick<AccessOptions, 'kubeconfig' | 'context' | 'businessContext'>;

/**
 * Adds the user's --kubeconfig and --context to the commands of a next step: without them a copied command would change
 * the cluster of the current context.
 */
export function inContext<T extends NextStep | undefined>(
  next: T,
  options: Choice,
  provider: string | undefined,
): T {
  if (next === undefined) return next;
  const complete = (command: string) => commandInContext(command, options, provider);
  return { ...next, commands: next.commands.map(complete), preview: next.preview.map(complete) };
}

/** Returns a command with the user's --kubeconfig and --context. */
export function commandInContext(command: string, options: Choice, provider?: string): string {
  const { kubeconfig, context } = options;
  // Its --kubeconfig is that of the business cluster.
  if (!command.startsWith('kubectl ') || command.startsWith('kubectl multinic register-'))
    return command;
  const isManagement = /^kubectl multinic | osc /.test(command);
  const chosen = isManagement ? context : options.businessContext.get(provider ?? '');
  const flags = [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${shellWord(kubeconfig)}`]),
    ...(chosen === undefined ? [] : [`--context ${shellWord(chosen)}`]),
  ].join(' ');
  if (flags === '') return command;
  return command.startsWith('kubectl multinic ')
    ? `${command} ${flags}`
    : command.replace(/^kubectl /, `kubectl ${flags} `);
}
