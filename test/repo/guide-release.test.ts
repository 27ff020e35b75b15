import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyCheckout } from '../../build/image/release/command-archive.ts';
import { type Block, blocksOf, commandsOf, isRun } from './guides.ts';
import { anchorsOf, linksOf } from './links.ts';
import { filesBelow, root, textOf } from './tree.ts';

const run = promisify(execFile);
let place: string;
/** Files of an unpacked release. */
let tree: string;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'multinic-unpacked-'));
  tree = join(place, 'tree');
  await copyCheckout(root, tree);
});

afterAll(() => rm(place, { recursive: true }));

it('links in the pages of an unpacked release lead to files of the release', async () => {
  const files = new Set(await readdir(tree, { recursive: true }));
  const pages = [...files].filter((path) => path.endsWith('.md'));
  expect(pages.length).toBeGreaterThan(100);
  const dead = pages.flatMap((page) =>
    linksOf(page).flatMap(({ link, target, anchor }) => {
      if (!files.has(target)) return [`${page}: ${link}`];
      const isAnchor = anchor === undefined || anchorsOf(textOf(target)).has(anchor);
      return isAnchor ? [] : [`${page}: ${link}`];
    }),
  );
  expect(dead).toEqual([]);
});

/**
 * Stand-in for programs that call clusters and for scripts of the release: exits with 66 if a file in its arguments does
 * not exist.
 */
const caller = `#!/bin/sh
before=
for argument; do
  case $before in
    --values | -f) [ "$argument" = - ] || [ -f "$argument" ] || exit 66 ;;
    --from-file) [ -f "\${argument#*=}" ] || [ "\${argument#*=}" = /dev/stdin ] || exit 66 ;;
  esac
  before=$argument
done
`;
/** Stand-in for tar: copies the release to the folder after -C, to the working directory, or to a folder of the archive's name. */
const tar = `#!/bin/sh
into=.
case "$*" in
  *--one-top-level=*)
    into="$(printf '%s' "$*" | sed 's/.*--one-top-level=\\([^ ]*\\).*/\\1/')"
    mkdir "$into"
    ;;
  *--strip-components=1*) ;;
  *) into=$(basename "$2" -linux-amd64.tar.gz); mkdir "$into" ;;
esac
while [ $# -gt 0 ]; do
  [ "$1" != -C ] || into=$2
  shift
done
cp -r "$TREE/." "$into"
`;
const programs = {
  kubectl: caller,
  helm: caller,
  multinic: caller,
  tar,
  sha256sum: '#!/bin/sh\n',
  // An unpacked release has no Makefile.
  make: '#!/bin/sh\n[ -e Makefile ]\n',
};

async function put(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o755);
}

function isExample({ language, note }: Block): boolean {
  return language === 'sh' && note === 'example';
}

describe('typed in an unpacked release', () => {
  const install = 'docs/guides/install.md';
  const guides = filesBelow('docs/guides').filter(
    (path) => !path.endsWith('.ko.md') && commandsOf(path).length > 0,
  );
  /** Section that a page runs in a checkout. */
  const inCheckout = '1. Outside: one file';
  let home: string;
  let bin: string;

  beforeAll(async () => {
    [home, bin] = [join(place, 'home'), join(place, 'bin')];
    for (const folder of [bin, join(home, 'multinic-release')]) {
      await mkdir(folder, { recursive: true });
    }
    for (const [name, text] of Object.entries(programs)) await put(join(bin, name), text);
    for (const path of await readdir(tree, { recursive: true })) {
      if (/^bin\/|\.sh$/.test(path)) await put(join(tree, path), caller);
    }
    // What the reader brings: the object of biz-config.md.
    await mkdir(join(home, 'multinic'));
    await writeFile(join(home, 'multinic/biz-config.yaml'), '');
    await type(install, home);
  });

  /** Runs all blocks of a page, after its examples, from a folder. */
  async function type(page: string, cwd: string): Promise<void> {
    const blocks = blocksOf(textOf(page)).filter((block) => isRun(block) || isExample(block));
    const script = blocks.map(({ section, text }) =>
      section === inCheckout ? `(\ncd '${root}'\n${text})\n` : text,
    );
    const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, TREE: tree };
    const clusters = { MANAGEMENT_KUBECONFIG: 'm', BUSINESS_KUBECONFIG: 'b' };
    const bash = ['--norc', '-euo', 'pipefail', '-c', script.join('')];
    const typed = run('bash', bash, { cwd, env: { ...env, ...clusters } });
    // A page without a prompt ends before it reads its input.
    typed.child.stdin?.on('error', () => undefined).end('secret\nsecret\n');
    await typed;
  }

  it.each(guides)('%s: every command finds its files, after the installation', async (page) => {
    await expect(type(page, home)).resolves.toBeUndefined();
  });

  it('README.md: every command finds its files, in the folder of the release', async () => {
    await expect(type('README.md', join(home, 'multinic-release'))).resolves.toBeUndefined();
  });
});
