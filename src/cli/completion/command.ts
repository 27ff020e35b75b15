import { Argument, Command } from 'commander';
import { candidates, scripts, shells } from './scripts.ts';

/** `multinic completion SHELL`: completion script on standard output. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('prints a completion script')
    .addArgument(
      new Argument('<shell>', 'shell; kubectl: words for kubectl multinic').choices([
        ...shells,
        'kubectl',
      ]),
    )
    .argument('[words...]', 'for kubectl: words of the command line so far')
    .action(complete);
}

async function complete(shell: keyof typeof scripts | 'kubectl', words: readonly string[]) {
  const known = await knownWords();
  console.log(shell === 'kubectl' ? candidates(known, words) : scripts[shell](known));
}

/** Returns options by command, from the definitions of the commands. */
async function knownWords(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { commands } = await import('../main-cli.ts');
  const entries = Object.entries(commands).map(async ([name, load]) => {
    const command = (await load())(() => undefined);
    const options = command.options.map(({ long }) => long ?? '').filter((word) => word !== '');
    const nested = command.commands.map((each) => each.name());
    return [name, [...nested, ...options, '--help']] as const;
  });
  return new Map(await Promise.all(entries));
}
