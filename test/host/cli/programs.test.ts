import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { node } from '../../../src/explain/testing/healthy.ts';
import { answerNodes } from '../../fixtures/cli/played-operator.ts';
import {
  commandLine,
  endOf,
  runProgram,
  signalGroup,
  startProgram,
} from '../../fixtures/cli/program.ts';
import { type CliFixture, startScene } from '../../fixtures/cli/scene.ts';

const run = promisify(execFile);

/** A folder with 16 kB of space. */
async function smallFolder({ folder }: CliFixture): Promise<string> {
  const path = join(folder, 'small');
  await mkdir(path);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', path]);
  onTestFinished(async () => void (await run('umount', [path])));
  return path;
}

/** Answers about nodes that make an archive larger than 16 kB: ids do not compress. */
function answerManyNodes(scene: CliFixture): void {
  const nodes = Array.from({ length: 1_000 }, (_, n) =>
    node(n, { instanceId: crypto.randomUUID() }),
  );
  answerNodes(scene, ...nodes);
}

/** An operator that never answers a request for nodes; resolves when it has one. */
function holdNodes({ answers }: CliFixture): Promise<void> {
  const reached = Promise.withResolvers<void>();
  answers.set('GET /v1/nodes', () => {
    reached.resolve();
    return new Promise(() => undefined);
  });
  return reached.promise;
}

describe('support-bundle as a process', () => {
  test('ends with status 130 and leaves no file after Ctrl-C while the operator answers', async () => {
    const scene = await startScene();
    const reached = holdNodes(scene);
    const child = startProgram(commandLine(['support-bundle']), { cwd: scene.folder });
    const ended = endOf(child);
    await reached;
    signalGroup(child, 'SIGINT');
    const { status, out } = await ended;
    expect({ status, out }).toEqual({ status: 130, out: '' });
    expect(await readdir(scene.folder)).toEqual(['kubectl']);
  });

  test('names the full disk and leaves no file when the archive does not fit', async () => {
    const scene = await startScene();
    answerManyNodes(scene);
    const cwd = await smallFolder(scene);
    const { status, out, err } = await runProgram(['support-bundle', '--lang', 'en'], { cwd });
    expect({ status, out }).toEqual({ status: 3, out: '' });
    expect(err).toMatch(/\.tar\.gz cannot be written: ENOSPC.*\nNext: free some space/);
    expect(await readdir(cwd)).toEqual([]);
  });
});

test.each(['nics', 'nics -o json'])(
  '%s ends quietly when the reader closes the pipe after a line',
  async (line) => {
    const scene = await startScene();
    answerManyNodes(scene);
    const words = commandLine(line.split(' ')).map((word) => `'${word}'`);
    const pipe = `${words.join(' ')} | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const options = { cwd: scene.folder };
    const { out, err } = await endOf(startProgram(['bash', '-c', pipe], options));
    // On a busy machine the command shows progress first.
    expect(err.replace(/^reading …\n$/, '')).toBe('');
    expect(out.split('\n').slice(1)).toEqual(['0', '']);
  },
);

test('kubectl ends with a command that is terminated', async () => {
  const scene = await startScene();
  const reached = holdNodes(scene);
  const child = startProgram(commandLine(['nodes']), { cwd: scene.folder });
  const ended = endOf(child);
  await reached;
  child.kill('SIGTERM');
  expect((await ended).status).toBe(130);
  const { stdout } = await run('ps', ['-eo', 'args']);
  expect(stdout.split('\n').filter((line) => line.includes(scene.folder))).toEqual([]);
});
