import { Argument, Command } from 'commander';
import type { Define } from '../exit-status.ts';
import { candidates, scripts, shells } from './scripts.ts';

/** Commands by name, loaded separately. */
type Commands = Readonly<Record<string, () => Promise<Define>>>;

type Shell = keyof typeof scripts | 'kubectl';

/** `multinic completion SHELL`: completion script on standard output. */
export function completionCommand(commands: Commands): Command {
  return new Command('completion')
    .description('prints a completion script')
    .addArgument(
      new Argument('<shell>', 'shell; kubectl: words for kubectl multinic').choices([
        ...shells,
        'kubectl',
      ]),
    )
    .argument('[words...]', 'for kubectl: words of the command line so far')
    .action((shell: Shell, words: readonly string[]) => complete(commands, shell, words));
}

async function complete(commands: Commands, shell: Shell, words: readonly string[]) {
  const known = await knownWords(commands);
  console.log(shell === 'kubectl' ? candidates(known, words) : scripts[shell](known));
}

/** Returns options by command, from the definitions. */
async function knownWords(commands: Commands): Promise<ReadonlyMap<string, readonly string[]>> {
  const entries = Object.entries(commands).map(async ([name, load]) => {
    const command = (await load())(() => undefined);
    const options = command.options.map(({ long }) => long ?? '').filter((word) => word !== '');
    const nested = command.commands.map((each) => each.name());
    return [name, [...nested, ...options, '--help']] as const;
  });
  return new Map(await Promise.all(entries));
}
