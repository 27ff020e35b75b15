import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { blocksOf, commandsOf, guides, isRun, koreanOf, variablesOf } from './guides.ts';
import { textOf } from './tree.ts';

const run = promisify(execFile);

/** What a page is made of, without its words. */
function skeletonOf(page: string) {
  const prose = page.replace(/^```[\s\S]*?^```$/gm, '');
  return {
    headings: prose.match(/^#+ /gm),
    blocks: blocksOf(page).map(({ language, note, text }) => ({ language, note, text })),
    rowsOfTables: (prose.match(/(^\|.*\n)+/gm) ?? []).map((table) => table.split('\n').length),
  };
}

/** Further pages in both languages. Their commands run in no test, except those of docs/first-change.md. */
const pages = ['README', 'docs/README', 'docs/architecture', 'docs/faq', 'docs/first-change'];

it.each([...guides, ...pages.map((page) => `${page}.md`)])(
  '%s is the same in both languages, word by word where it is run',
  (path) => {
    const [en, ko] = [path, koreanOf(path)].map((each) => skeletonOf(textOf(each)));
    expect(ko).toEqual(en);
  },
);

describe.each(['README.md', ...guides])('%s', (path) => {
  it('has blocks that are run as they stand', async () => {
    for (const { text, line } of commandsOf(path)) {
      const where = `${path}:${line}`;
      await expect(run('bash', ['-n', '-c', text]), where).resolves.toBeDefined();
      expect(text.match(/^\s*[$#%>] .*/gm), where).toBeNull();
      expect(text.match(/<[a-zA-Z][\w -]*>|…|\.\.\./g), where).toBeNull();
    }
  });

  it('runs kubectl, date, helm, make, what is ours, and what unpacks it', () => {
    const programs = commandsOf(path).flatMap(({ text }) => programsOf(text));
    const ours = /^(multinic\/)?(\.\/[\w-]+\.sh|[\w-]+\.sh|scripts\/[\w-]+\.sh|bin\/multinic)$/;
    const known = /^(kubectl|date|helm|make|multinic|tar|sha256sum)$/;
    const unknown = programs.filter((program) => !known.test(program) && !ours.test(program));
    expect(unknown).toEqual([]);
  });

  it('uses no variable before it is there', () => {
    expect(undefinedIn(path)).toEqual([]);
  });
});

it('reads blocks with their sections, and which of them are run', () => {
  const page =
    '# A\n\n```sh example\nexport X=1\n```\n\n## One\n\n```sh\nmake x\nmake y\n```\n```text\nout\n```\n';
  const blocks = blocksOf(page);
  expect(blocks.map(({ section, note, line }) => [section, note, line])).toEqual([
    ['', 'example', 4],
    ['One', '', 10],
    ['One', '', 14],
  ]);
  expect(blocks.filter(isRun).map(({ text }) => text)).toEqual(['make x\nmake y\n']);
  expect(() => blocksOf('```sh\nmake x\n')).toThrow('the block of line 1 does not end');
});

/** The first words of all commands of a script: of its lines, behind pipes and in substitutions. */
function programsOf(script: string): string[] {
  const withoutTexts = script
    .replace(/<<(\w+)\n[\s\S]*?\n\1$/gm, '')
    .replace(/'[^']*'/g, "''")
    .replace(/\\\n/g, ' ');
  const commands = withoutTexts.split(/\n|\||&&|;|\$\(/).map((command) => command.trim());
  return commands.flatMap((command) => {
    const [program = ''] = command.replace(/^(\w+=("[^"]*"|\S*)( |$))*/, '').split(' ');
    return /^[\w./-]+$/.test(program) ? [program] : [];
  });
}

/** Variables of any page: the README says only that there are two clusters. */
const everywhere = ['HOME', 'MANAGEMENT_KUBECONFIG', 'BUSINESS_KUBECONFIG'];

/** Variables that a page uses without having assigned them, or had its reader export them, before. */
function undefinedIn(path: string): string[] {
  const known = new Set([...variablesOf(path), ...everywhere]);
  return commandsOf(path).flatMap(({ text, line }) => {
    for (const [, name = ''] of text.matchAll(/^(\w+)=/gm)) known.add(name);
    const used = [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
    return used.filter((name) => !known.has(name)).map((name) => `${line}: ${name}`);
  });
}
