import { Command } from 'commander';
export function supportBundleCommand(): Command {
  return new Command('support-bundle');
}
