import { Command } from 'commander';
import { AccessError } from '../kube/access/access-error.ts';
import { KubeError } from '../kube/errors.ts';
import { statusOf } from '../process/command-line.ts';
import { type EndWith, type ExitStatus, exit } from './exit-status.ts';
import { migrateCommand } from './migrate/command.ts';
import { Refusal } from './refusal.ts';
import { registerClusterCommand } from './register-cluster/command.ts';

/** User commands by name. */
export const commands: Readonly<Record<string, (endWith: EndWith) => Command>> = {
  migrate: migrateCommand,
  'register-cluster': registerClusterCommand,
};

/** Runs a user command; prints errors as one line plus the next step. */
export async function cliMain(name: string, argv: readonly string[]): Promise<number> {
  const program = new Command('multinic');
  let status: ExitStatus = exit.done;
  const endWith: EndWith = (other) => {
    status = other;
  };
  for (const command of Object.values(commands)) program.addCommand(command(endWith));
  try {
    const parse = () => program.parseAsync([name, ...argv], { from: 'user' });
    return (await statusOf(program, parse)) ?? status;
  } catch (error) {
    return reported(error);
  }
}

function reported(error: unknown): number {
  if (error instanceof Refusal) {
    console.error(`${error.message}\nNext: ${error.next}`);
    return exit.refused;
  }
  if (error instanceof AccessError) {
    console.error(`${error.message}\nNext: ${error.next}`);
    return exit.usage;
  }
  if (error instanceof KubeError) {
    console.error(`${error.message}\nNext: ${nextOf(error)}`);
    return exit.failed;
  }
  console.error(error instanceof Error ? error.message : String(error));
  return exit.failed;
}

function nextOf({ status, reason }: KubeError): string {
  if (status === 403)
    return 'use a kubeconfig whose user may do this (an administrator of the cluster)';
  if (status === 401)
    return 'renew the credentials of the kubeconfig: the API server does not accept them';
  if (reason === 'Unreachable' || reason === 'Timeout')
    return 'check that this machine reaches the API server, and try again';
  return 'correct this, and run the command again: finished steps stay';
}
