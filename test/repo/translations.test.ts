import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { koreanOf } from './guides.ts';
import { filesBelow, root, textOf } from './tree.ts';

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...filesBelow('docs')].filter(
  (path) => path.endsWith('.md') && !path.endsWith('.ko.md'),
);

it.each(pages)('%s is in Korean, too, or says in its first lines that it is not', (path) => {
  if (existsSync(join(root, koreanOf(path)))) return;
  const [head] = textOf(path).split(/^(?:\| |## )/m);
  expect(head?.replaceAll(/\s+/g, ' ')).toContain('This page is not translated.');
});
