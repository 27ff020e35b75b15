import { Command, CommanderError } from 'commander';
import { KubeError } from '../kube/errors.ts';
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
  const program = new Command('multinic').exitOverride();
  let status: ExitStatus = exit.done;
  const endWith: EndWith = (other) => {
    status = other;
  };
  for (const command of Object.values(commands)) program.addCommand(throwing(command(endWith)));
  try {
    await program.parseAsync([name, ...argv], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.done : exit.usage;
    return reported(error);
  }
}

/** Makes a command and its subcommands throw instead of exiting. */
function throwing(command: Command): Command {
  for (const subcommand of command.commands) throwing(subcommand);
  return command.exitOverride();
}

function reported(error: unknown): number {
  if (error instanceof Refusal) {
    console.error(`${error.message}\nNext: ${error.next}`);
    return exit.refused;
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
  if (status === 401) return 'the credentials of the kubeconfig are not accepted: renew them';
  if (reason === 'Unreachable' || reason === 'Timeout')
    return 'see whether the API server can be reached from here, and try again';
  return 'correct that, and try again: what was done already is found and kept';
}
