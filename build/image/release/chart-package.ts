import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packTarball } from './tarball.ts';

/** Packs a chart as `helm package` does, as NAME-VERSION.tgz in `out`; answers the name of the file. */
export async function packChart(charts: string, name: string, out: string): Promise<string> {
  const text = await readFile(join(charts, name, 'Chart.yaml'), 'utf8');
  const { version } = parse(text) as { readonly version: string };
  const file = `${name}-${version}.tgz`;
  await packTarball(join(out, file), charts, [name]);
  return file;
}
