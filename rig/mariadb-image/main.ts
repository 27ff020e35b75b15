import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { contents, type Series } from './contents.ts';
import { mariadbImage, repository } from './mariadb-image.ts';
import { rootOf } from './root.ts';

function seriesOf(word: string | undefined): Series {
  if (word !== undefined && Object.hasOwn(contents, word)) return word as Series;
  const known = Object.keys(contents).join(' or ');
  throw new Error(`SERIES must be ${known}, not ${word ?? 'absent'}; see pack --help`);
}

const [verb, ...words] = process.argv.slice(2);
if (verb === 'install') {
  const all = words.length === 0 ? ['10.11'] : words;
  for (const word of all) await mariadbImage(seriesOf(word));
} else if (verb === 'root') {
  process.stdout.write(`${await rootOf(seriesOf(words[0]))}\n`);
} else {
  const out = resolve(words[0] ?? `mariadb-${verb}.tar`);
  const archive = await mariadbImage(seriesOf(verb));
  await mkdir(dirname(out), { recursive: true });
  await copyFile(archive, out);
  process.stdout.write(`${repository}:${verb}\n`);
}
