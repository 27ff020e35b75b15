import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { filesBelow, root, textOf } from './tree.ts';

const pages = [
  'README.md',
  'README.ko.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...['docs', 'charts', 'rig', 'test'].flatMap(filesBelow).filter((path) => path.endsWith('.md')),
];

/** A page without what is shown in it as text. */
function proseOf(page: string): string {
  return page.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
}

/** The anchors of a page as GitHub makes them of headings; a second heading of the same words gets `-1`. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of page.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
    const slug = words.replace(/\s/g, '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
}

/** What is wrong with a link of a page; undefined for one that leads somewhere. */
function flawOf(path: string, link: string): string | undefined {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? path : relative(root, join(root, dirname(path), file));
  if (!existsSync(join(root, target))) return `${link}: there is no ${target}`;
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  const anchors = anchorsOf(textOf(target));
  return anchors.has(decodeURIComponent(anchor)) ? undefined : `${link}: no such heading`;
}

it.each(pages)('%s: every link leads somewhere', (path) => {
  const links = [...proseOf(textOf(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, link = '']) => link,
  );
  const own = links.filter((link) => !/^[a-z]+:/.test(link));
  expect(own.flatMap((link) => flawOf(path, link) ?? [])).toEqual([]);
});
