import { expect, it } from 'vitest';
import { assetPath, startDashboard, writePage } from '../testing/dashboard-fixture.ts';
import { readPageFiles } from './page-files.ts';

it('browsers store hashed files forever, and the index never', async () => {
  const stranger = (await startDashboard()).stranger();
  const answers = [
    await stranger.fetch({ path: '/?node=x' }),
    await stranger.fetch({ path: assetPath }),
  ];
  expect(
    answers.map(({ headers, text }) => [headers['content-type'], headers['cache-control'], text]),
  ).toEqual([
    ['text/html; charset=utf-8', 'no-store', `<!doctype html><script src="${assetPath}"></script>`],
    ['text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', 'export {};'],
  ]);
});

it.each(['main.js', 'notes-K3J5Q2XA.map', '.env', 'page-K3J5Q2XA.html:x'])(
  'a folder with the file %s is refused',
  async (name) => {
    const folder = await writePage({ [name]: '' });
    await expect(readPageFiles(folder)).rejects.toThrow(`${name} is no page file`);
  },
);

it.each([
  ['/nowhere', 'ENOENT'],
  [import.meta.dirname, 'has no index.html'],
])('the folder %s is refused with %s', async (folder, message) => {
  await expect(readPageFiles(folder)).rejects.toThrow(message);
});
