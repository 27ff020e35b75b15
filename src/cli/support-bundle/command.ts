import { rename, rm, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { counted } from '../../api/counted.ts';
import { parseDuration } from '../../process/duration.ts';
import type { AccessOptions } from '../../session/access/options.ts';
import { languageOption, withAccessOptions } from '../options.ts';
import { skippedLines } from '../output/findings.ts';
import { print } from '../output/print.ts';
import { Refusal, WrongUsage } from '../refusal.ts';
import { withSession } from '../run-command.ts';
import { type Bundle, bundleOf } from './bundle.ts';
import { collect } from './collect.ts';
import type { Collected } from './entries.ts';

interface Options extends AccessOptions {
  readonly since: string;
  readonly without: string;
  readonly output?: string;
}

const parts = ['logs', 'addresses'];

/** `multinic support-bundle`: one archive for support. */
export function supportBundleCommand(): Command {
  const command = new Command('support-bundle')
    .description('writes one archive for support; reads no Secret, contacts only the clusters')
    .option('--since <duration>', 'age of the oldest log line', '24h')
    .option('--without <parts>', 'leaves out logs, addresses or both (logs,addresses)', '')
    .option('-o, --output <path>', 'path of the archive; default: in the current folder')
    .addOption(languageOption())
    .action(supportBundle);
  return withAccessOptions(command);
}

async function supportBundle(options: Options): Promise<void> {
  const without = options.without.split(',').filter((part) => part !== '');
  const unknown = without.find((part) => !parts.includes(part));
  if (unknown !== undefined) {
    throw new WrongUsage(`--without "${unknown}" is unknown`, `choose from ${parts.join(', ')}`);
  }
  const sinceSeconds = Math.ceil((parseDuration(options.since) ?? Number.NaN) / 1_000);
  if (!(sinceSeconds > 0)) {
    throw new WrongUsage(
      `--since "${options.since}" is no duration`,
      'give for example --since 24h',
    );
  }
  await withSession(options, async (run) => {
    const at = run.session.now();
    const collected = await collect(run, { sinceSeconds, logs: !without.includes('logs') });
    const name = `multinic-support-${at.toISOString().slice(0, 16).replace(':', '')}Z`;
    const bundle = bundleOf(collected, { name, addresses: !without.includes('addresses'), at });
    const path = options.output ?? `${name}.tar.gz`;
    await writeWhole(path, bundle.archive, run.session.signal);
    print(summary(path, bundle, collected));
  });
}

/** Writes a file completely or not at all: also after Ctrl-C, or on a full disk. */
async function writeWhole(path: string, content: Buffer, signal: AbortSignal): Promise<void> {
  const partial = `${path}.partial`;
  try {
    await writeFile(partial, content, { mode: 0o600, signal, flush: true });
    await rename(partial, path);
  } catch (error) {
    await removeIfPresent(partial);
    if (signal.aborted || !(error instanceof Error)) throw error;
    throw new Refusal(
      `${path} cannot be written: ${error.message}`,
      'free some space, or give another path with -o',
    );
  }
}

/** Removes a file; below a path that is no folder there is none, although `force` does not cover ENOTDIR. */
async function removeIfPresent(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
  }
}

function summary(path: string, bundle: Bundle, { entries, skipped }: Collected): string {
  const { redactor, leftOut, archive, files } = bundle;
  const logs = entries.filter(({ isLog }) => isLog).length;
  const keys = [...redactor.byKey.keys()].join(', ');
  const byKey = redactor.total - redactor.byPattern;
  return [
    `Collected: ${counted(entries.length - logs, 'file')} about objects, settings, metrics and plans, and ${counted(logs, 'log')}`,
    'Not read: Secrets.',
    ...skippedLines(skipped, 'en'),
    ...(leftOut.length > 0 ? [`Left out (size limit): ${leftOut.join(', ')}`] : []),
    `Redacted: ${counted(redactor.total, 'value')}, ${byKey} by key${keys === '' ? '' : ` (${keys})`} and ${redactor.byPattern} by pattern`,
    `Wrote ${path} (${(archive.length / 1_000_000).toFixed(1)} MB, ${counted(files, 'file')}). Its index.html opens without network.`,
    '',
    'Review the archive before you send it:',
    `  tar tf ${path}`,
    'To leave out more: --without logs,addresses (addresses, names and ids become tokens such as ip-1, the same everywhere)',
  ].join('\n');
}
