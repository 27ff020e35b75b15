import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { heapFlags } from '../../../src/process/heap.ts';
import type { Build } from '../../../src/process/version.ts';
import { bundleOptions } from '../../bundler.ts';
import { entryPoint } from '../../entry-point.ts';
import { checkoutBuild } from '../../identity.ts';
import { leftOut } from '../../left-out.ts';
import { complaintOf, run } from '../command.ts';
import { replacedModules } from './replaced-modules.ts';

/** A host as an agent finds it: its request, files by path, and answers of `ip` by question. */
interface RecordedHost {
  readonly request: object;
  readonly files: Readonly<Record<string, string>>;
  readonly answers: object;
}

/**
 * Builds the agent's startup snapshot at the path `blob`. `node` is the Node.js that will start from it: Node.js refuses a
 * snapshot of another version, architecture or platform. `work` is a folder that may be written. `build` as for `bundle`.
 */
export async function buildAgentSnapshot(
  node: string,
  blob: string,
  work: string,
  build?: Build,
): Promise<void> {
  const entry = join(work, 'agent.cjs');
  await esbuild({
    ...bundleOptions(build ?? (await checkoutBuild())),
    entryPoints: [join(import.meta.dirname, 'entry.ts')],
    outfile: entry,
    format: 'cjs',
    plugins: [replacedModules, leftOut],
  });
  const recorded = join(work, 'recorded');
  await layOutRecordedHost(recorded);
  // Without NODE_OPTIONS and the time zone of the builder.
  const env = { RECORDED_HOST: recorded };
  const config = join(work, 'config.json');
  // V8's code cache saves a fifth of a run's CPU time, and adds 2.5 MB to the packed image.
  await writeFile(config, JSON.stringify({ builder: entry }));
  const flags = ['--no-warnings', `--snapshot-blob=${blob}`, '--build-snapshot-config', config];
  await mkdir(dirname(blob), { recursive: true });
  const { command } = entryPoint('agent', { node, main: entry, snapshot: blob });
  let usage: string;
  try {
    await run([node, ...heapFlags('agent'), ...flags], { env });
    usage = await run([...command, '--help'], { env: {} });
  } catch (error) {
    const hint = "build the image on a machine of the image's architecture";
    const message = `${node} makes no startup snapshot of the agent; ${hint}: ${complaintOf(error)}`;
    throw new Error(message, { cause: error });
  }
  if (!usage.startsWith('usage: multinic agent')) {
    throw new Error(`${node} makes no startup snapshot of the agent: it starts with "${usage}"`);
  }
}

/** Writes the files of the recorded host to `host`, its request to `request` and the answers of `ip` to `answers`. */
export async function layOutRecordedHost(folder: string): Promise<void> {
  const text = await readFile(join(import.meta.dirname, 'recorded-host.json'), 'utf8');
  const { request, files, answers } = JSON.parse(text) as RecordedHost;
  const all = {
    request: JSON.stringify(request),
    answers: JSON.stringify(answers),
    ...Object.fromEntries(Object.entries(files).map(([path, file]) => [`host/${path}`, file])),
  };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
