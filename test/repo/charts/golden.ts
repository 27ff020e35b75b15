import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatch, createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { root, textOf } from '../tree.ts';

/** Renderings of the charts: of the default values in full, of other values as unified diffs to that. */
const folder = 'test/packaging/charts/golden';

/** Names of all golden files, e.g. `operator-dev`. */
export const goldenNames = readdirSync(join(root, folder))
  .map((file) => file.replace(/\.(yaml|diff)$/, ''))
  .toSorted();

/** Returns the name of the rendering that the golden file of `name` is a diff to; undefined: the file is a full one. */
export function baseOf(name: string): string | undefined {
  const base = name.replace(/-.*/, '-default');
  return base === name ? undefined : base;
}

/** Returns the unified diff that the golden file of `name` consists of. */
export function diffOf(name: string, text: string, base: string, baseText: string): string {
  return createTwoFilesPatch(`${base}.yaml`, `${name}.yaml`, baseText, text, undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
  });
}

/** Returns the rendering that the golden files state. */
export function goldenText(name: string): string {
  const base = baseOf(name);
  if (base === undefined) return textOf(`${folder}/${name}.yaml`);
  const text = applyPatch(goldenText(base), textOf(`${folder}/${name}.diff`));
  if (text === false) {
    throw new Error(
      `golden/${name}.diff does not apply to golden/${base}.yaml: ` +
        `update both with "test/vitest packaging packaging test/packaging/charts -u"`,
    );
  }
  return text;
}
