import { Argument, Command } from 'commander';
import { scripts, shells } from './scripts.ts';

/** `multinic completion SHELL`: completion script on standard output. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('prints a completion script')
    .addArgument(new Argument('<shell>', 'shell').choices([...shells]))
    .action(async (shell: (typeof shells)[number]) => console.log(scripts[shell](await words())));
}

/** Options by command, from the definitions of the commands. */
async function words(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { commands } = await import('../main-cli.ts');
  const entries = Object.entries(commands).map(async ([name, load]) => {
    const command = (await load())(() => undefined);
    const options = command.options.map(({ long }) => long ?? '').filter((word) => word !== '');
    const nested = command.commands.map((each) => each.name());
    return [name, [...nested, ...options, '--help']] as const;
  });
  return new Map(await Promise.all(entries));
}
