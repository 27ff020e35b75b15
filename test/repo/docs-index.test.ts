import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { filesBelow, textOf } from './tree.ts';

const pages = filesBelow('docs').filter((path) => path.endsWith('.md'));

/** Paths that a page links to. */
function linksOf(page: string): string[] {
  const links = [...textOf(page).matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) => link);
  return links.map((link) => join(dirname(page), link));
}

it.each([
  // The runbooks have an index of their own; Korean pages stand beside the English ones.
  ['docs/README.md', pages.filter((path) => !path.startsWith('docs/runbooks/M'))],
  [
    'docs/README.ko.md',
    pages.filter((path) => path.endsWith('.ko.md') && !path.startsWith('docs/runbooks/M')),
  ],
])('%s links to every page', (index, expected) => {
  const linked = new Set([index, ...linksOf(index)]);
  expect(expected.filter((path) => !linked.has(path))).toEqual([]);
});
