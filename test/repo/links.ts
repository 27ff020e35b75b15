import { dirname, join } from 'node:path';
import { textOf } from './tree.ts';

/** A relative link of a page. */
export interface Link {
  readonly link: string;
  /** Path of the file, relative to the root. */
  readonly target: string;
  /** Heading in a Markdown file; undefined: the link names none. */
  readonly anchor: string | undefined;
}

/** Returns a page without code. */
function proseOf(page: string): string {
  return page.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
}

/** Returns the anchors that GitHub makes of headings, and explicit ones (`<a id="…">`); a second heading of the same words gets `-1`. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const prose = page.replace(/^```[\s\S]*?^```$/gm, '');
  const anchors = new Set([...prose.matchAll(/<a id="([^"]+)"/g)].map(([, id = '']) => id));
  for (const [, heading = ''] of prose.matchAll(/^#+ (.+)$/gm)) {
    const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
    const slug = words.replace(/\s/g, '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
}

/** Returns the links of a page to files of the tree. */
export function linksOf(path: string): readonly Link[] {
  const found = [...proseOf(textOf(path)).matchAll(/\]\(([^)\s]+)\)/g)];
  const links = found.map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
  return links.map((link) => {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : join(dirname(path), file).replace(/\/$/, '');
    const heading = anchor !== undefined && target.endsWith('.md') ? anchor : undefined;
    return { link, target, anchor: heading && decodeURIComponent(heading) };
  });
}
