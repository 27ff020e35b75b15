import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf, type Link, linksOf } from './links.ts';
import { filesBelow, root, textOf } from './tree.ts';

const pages = [
  'README.md',
  'README.ko.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...['docs', 'charts', 'rig', 'test'].flatMap(filesBelow).filter((path) => path.endsWith('.md')),
];

/** Returns what is wrong with a link; undefined if it leads somewhere. */
function flawOf({ link, target, anchor }: Link): string | undefined {
  if (!existsSync(join(root, target))) return `${link}: there is no ${target}`;
  if (anchor === undefined || anchorsOf(textOf(target)).has(anchor)) return undefined;
  return `${link}: no such heading`;
}

it.each(pages)('%s: every link leads somewhere', (path) => {
  expect(linksOf(path).flatMap((link) => flawOf(link) ?? [])).toEqual([]);
});
