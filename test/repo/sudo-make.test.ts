import { spawnSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, textOf } from './tree.ts';

const owner = 12_345;
let checkout: string;

/** A checkout of a user other than root, with recipes of its own under the shell settings of our Makefile. */
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'sudo-make-'));
  cpSync(join(root, 'build/sudo-shell'), join(checkout, 'build/sudo-shell'));
  const settings = textOf('Makefile').match(/^\.?SHELL.*$/gm) ?? [];
  const recipes = [
    'write: ; @mkdir -p dist && echo x >dist/written',
    'fail: ; @echo x >failed && false',
    'npm: ; @npm ci',
    'kill: ; @echo x >killed && kill -KILL $$(ps -o ppid= -p $$PPID) && sleep 2 && echo x >survived',
    'stop: ; @echo x >stopped && kill -TERM $$PPID && exec sleep 60',
  ];
  writeFileSync(join(checkout, 'Makefile'), `${[...settings, ...recipes].join('\n')}\n`);
});

afterAll(() => rmSync(checkout, { recursive: true }));

function make(target: string, env: Readonly<Record<string, string>> = {}) {
  const sudo = { SUDO_UID: `${owner}`, SUDO_GID: `${owner}`, SUDO_USER: 'somebody' };
  const all = { PATH: process.env['PATH'] ?? '', ...sudo, ...env };
  return spawnSync('make', ['-C', checkout, target], { env: all, encoding: 'utf8' });
}

function ownersBelow(folder: string): number[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return [...new Set(paths.map((path) => statSync(join(folder, path)).uid))];
}

describe.runIf(process.getuid?.() === 0)('make under sudo', () => {
  beforeAll(() => {
    for (const path of ['.', ...readdirSync(checkout, { recursive: true, encoding: 'utf8' })]) {
      chownSync(join(checkout, path), owner, owner);
    }
  });

  it.each([
    ['write', 0],
    ['fail', 2],
    ['stop', 2],
  ])('leaves no file of root in the checkout after the recipe %s', (target, status) => {
    expect(make(target).status).toBe(status);
    expect(ownersBelow(checkout)).toEqual([owner]);
  });

  it('ends the recipe of a make that is killed', () => {
    expect(make('kill').signal).toBe('SIGKILL');
    expect(readdirSync(checkout)).not.toContain('survived');
    expect(ownersBelow(checkout)).toEqual([owner]);
  });

  it('names the way to keep PATH when npm is only on the PATH of the user', () => {
    const tools = mkdtempSync(join(tmpdir(), 'sudo-make-path-'));
    symlinkSync('/usr/bin/make', join(tools, 'make'));
    const { status, stderr } = make('npm', { PATH: tools });
    rmSync(tools, { recursive: true });
    expect(status).not.toBe(0);
    expect(stderr).toContain('sudo env "PATH=$PATH" make');
  });
});
