import { type Command, CommanderError } from 'commander';
import { usageExit } from './shutdown.ts';

/**
 * Parses a command line with `parse`. Resolves to the exit status when that was all: 0 after help, 2 after an argument that
 * cannot be used, which commander has named on standard error; undefined when the command goes on.
 */
export async function statusOf(
  command: Command,
  parse: () => Promise<unknown>,
): Promise<number | undefined> {
  throwInsteadOfExit(command);
  try {
    await parse();
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : usageExit;
  }
}

/** Errors of subcommands have the form of those of `multinic` itself. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().configureOutput({
    outputError: (text, write) => write(`${fullName(command)}: ${inOneLine(text)}\n`),
  });
  for (const subcommand of command.commands) throwInsteadOfExit(subcommand);
}

function fullName(command: Command): string {
  const { parent } = command;
  return parent === null ? command.name() : `${fullName(parent)} ${command.name()}`;
}

/** commander writes `error: unknown option '--x'` and, on a line of its own, `(Did you mean --y?)`. */
function inOneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, '')
    .replace(
      /\n\(Did you mean (?:one of )?(.+?)\?\)$/,
      (_, names: string) => `; did you mean \`${names}\`?`,
    )
    .replace(/unknown (option|command) '([^']*)'/, 'unknown $1 `$2`');
}
