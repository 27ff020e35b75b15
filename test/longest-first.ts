import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes, the longest first. */
const longest = [
  'e2e/guides',
  'e2e/trouble',
  'e2e/upgrade',
  'e2e/chain',
  'lifecycle/life',
  'e2e/crash',
  'distros/matrix',
  'openapi-fuzz',
  'cluster/scripts',
  'cluster/cluster',
  'power-cut/life',
  'openstack/faults/faults',
].map((name) => `test/system/${name}.test.ts`);

/** Starts the longest files first: a long file that starts last would run alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const inUsualOrder = super.sort.bind(this);
    const sorted = await inUsualOrder(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const at = longest.findIndex((path) => moduleId.endsWith(path));
  return at === -1 ? longest.length : at;
}
