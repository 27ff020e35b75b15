import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, matchesGlob } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Block, blocksOf, koreanOf } from './guides.ts';
import { filesBelow, root, textOf } from './tree.ts';

// test/repo/guide-blocks.test.ts: the blocks of the Korean page are equal.
const page = 'docs/first-change.md';

/** Insertions of the page's `ts` blocks in their order. `line` is the neighbor, `name` its name on the page. */
const edits = [
  { file: 'src/plan/port-verdict.test.ts', line: "    ['PortStatus',", name: 'PortStatus' },
  { file: 'src/api/reasons/port.ts', line: '  PortStatus: row(', name: 'PortStatus', above: true },
  { file: 'src/plan/port-verdict.ts', line: 'function wrongStatus(', name: 'wrongStatus' },
];

/** Commands that are stages of CI themselves. */
const stages = ['make setup\n', 'make check\n'];

/** Most hand-written files that a new reason may touch. */
const most = 4;

interface Quote {
  readonly block: Block;
  /** Output of the commands above the block. */
  readonly output: string;
}

let copy: string;
let quotes: readonly Quote[];

beforeAll(async () => {
  copy = await copyOfTree();
  quotes = await follow(blocksOf(textOf(page)));
});

afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Copies the tree as a committed repository. Its node_modules has no caches in common with this run. */
async function copyOfTree(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'first-change-'));
  const ignored = ['.git', ...textOf('.gitignore').split('\n')].map((name) => basename(name));
  const filter = (path: string) => path === root || !ignored.includes(basename(path));
  cpSync(root, folder, { recursive: true, filter });
  const modules = join(root, 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(modules).filter((one) => !one.startsWith('.vite'))) {
    symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  }
  const git = 'git -c user.name=first -c user.email=first@example.com';
  await shell(`git init -q && git add -A && ${git} commit -qm copy`, folder);
  return folder;
}

/** Runs a script without the settings of this run; returns stdout and stderr, also when the script fails. */
async function shell(script: string, cwd = copy): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  const options = { cwd, env: { PATH, HOME, NO_COLOR: '1' } };
  return new Promise((resolve) => {
    execFile('bash', ['-c', `exec 2>&1\n${script}`], options, (_error, stdout) => resolve(stdout));
  });
}

/** Does what the blocks say; returns the quoted outputs beside the real ones. */
async function follow(blocks: readonly Block[]): Promise<Quote[]> {
  const open = [...edits];
  const found: Quote[] = [];
  let output = '';
  for (const block of blocks) {
    if (block.language === 'ts') insert(open.shift(), block.text);
    else if (block.language === 'text') found.push({ block, output });
    else if (!stages.includes(block.text)) output = await shell(block.text);
  }
  expect(open, 'edits without a block').toEqual([]);
  return found;
}

function insert(edit: (typeof edits)[number] | undefined, text: string): void {
  if (!edit) throw new Error(`no edit for the block ${text}`);
  const path = join(copy, edit.file);
  const lines = readFileSync(path, 'utf8').split('\n');
  const at = lines.findIndex((line) => line.startsWith(edit.line));
  if (at === -1) throw new Error(`${edit.file} has no line ${edit.line}`);
  lines.splice(edit.above ? at : at + 1, 0, text.trimEnd());
  writeFileSync(path, lines.join('\n'));
}

/** Lines with durations and counts replaced. */
function linesOf(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/\d+/g, '0'));
}

/** Files that the page changed, as `git status --short` lists them. */
async function changed(): Promise<string[]> {
  const status = await shell('git status --short');
  return status.trimEnd().split('\n');
}

describe('the first change', () => {
  it.each(edits)('names $file and $name in both languages', ({ file, name }) => {
    for (const text of [textOf(page), textOf(koreanOf(page))]) {
      expect(text).toContain(file);
      expect(text).toContain(`\`${name}\``);
    }
  });

  it('quotes real lines of each output in their order', () => {
    expect(quotes).toHaveLength(3);
    for (const { block, output } of quotes) {
      const quoted = linesOf(block.text);
      const real = linesOf(output).filter((line) => quoted.includes(line));
      expect(real, `${page}:${block.line}\n${output}`).toEqual(quoted);
    }
  });

  it('lists every changed file', async () => {
    const listed = quotes.at(-1)?.block.text.split('\n') ?? [];
    expect(listed.filter((line) => /^.[MAD?] /.test(line))).toEqual(await changed());
  });

  it(`touches at most ${most} files that are not generated`, async () => {
    const marks = [...textOf('.gitattributes').matchAll(/^(\S+) linguist-generated$/gm)];
    const files = await changed();
    const byHand = files
      .map((line) => line.slice(3))
      .filter((path) => !marks.some(([, glob = '']) => matchesGlob(path, glob)));
    expect(byHand.length).toBeGreaterThan(2);
    expect(byHand.length).toBeLessThanOrEqual(most);
  });

  it('compiles: touched folders, and files with the type of all reasons of ports', async () => {
    const config = {
      extends: './tsconfig.json',
      include: [...new Set(edits.map(({ file }) => dirname(file)))],
      files: [...filesBelow('src'), ...filesBelow('build')].filter(
        (path) => path.endsWith('.ts') && /\bPortReason\b/.test(textOf(path)),
      ),
    };
    writeFileSync(join(copy, 'tsconfig.touched.json'), JSON.stringify(config));
    expect(await shell('node_modules/.bin/tsc --noEmit -p tsconfig.touched.json')).toBe('');
  });
});
