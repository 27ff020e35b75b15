import { Command } from 'commander';
import { stringify } from 'yaml';
import { protocols } from '../../api/job.ts';
import { thisBuild } from '../../process/version.ts';
import { outputOption } from '../options.ts';

/** `multinic version`: build of this program. */
export function versionCommand(): Command {
  return new Command('version')
    .description('shows what this build is')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action(({ output }: { readonly output: string }) => console.log(versionText(output)));
}

function versionText(output: string): string {
  const { version, commit } = thisBuild();
  const build = { version, commit, node: process.version, agentProtocols: protocols };
  if (output === 'json') return JSON.stringify(build, undefined, 2);
  if (output === 'yaml') return stringify(build).trimEnd();
  return `multinic ${version}\ncommit ${commit}\nagent protocols ${protocols.join(', ')}\nnode ${process.version}`;
}
