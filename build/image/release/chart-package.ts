import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isPrerelease } from '../../charts/chart-file.ts';
import type { BuiltImage } from '../images.ts';
import { packTarball } from './tarball.ts';

/** Built image with digest. */
export type DigestedImage = Pick<BuiltImage, 'name' | 'architecture' | 'digest'>;

/** Writes version and image digests into a chart; the checkout has placeholders. */
export async function fillChart(
  chart: string,
  version: string,
  images: readonly DigestedImage[],
): Promise<void> {
  await change(join(chart, 'Chart.yaml'), [
    [/^(version|appVersion): .*$/gm, `$1: ${version}`],
    [/^( *artifacthub\.io\/prerelease): .*$/gm, `$1: "${isPrerelease(version)}"`],
  ]);
  const digests = images.map(
    ({ architecture, name, digest }) => `    - ${architecture}/${basename(name)}@${digest}\n`,
  );
  const values = join(chart, 'values.yaml');
  if (digests.length === 0 || !existsSync(values)) return;
  await change(values, [[/^ {2}imageDigests: \[\]\n/m, `  imageDigests:\n${digests.join('')}`]]);
}

async function change(path: string, changes: readonly (readonly [RegExp, string])[]) {
  const text = await readFile(path, 'utf8');
  const changed = changes.reduce((all, [from, to]) => all.replace(from, to), text);
  if (changed === text) throw new Error(`${path} has no ${String(changes[0]?.[0])}`);
  await writeFile(path, changed);
}

/** Packs a chart as `helm package` does, as NAME-VERSION.tgz in `out`. */
export async function packChart(
  charts: string,
  name: string,
  { version, out }: { readonly version: string; readonly out: string },
): Promise<void> {
  await packTarball(join(out, `${name}-${version}.tgz`), charts, [name]);
}
