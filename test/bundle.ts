// Run once by vitest before the tests on processes: they run what is shipped.
import { bundle } from '../deploy/bundler.ts';
import { bundleFolder } from '../rig/parts/program.ts';

export async function setup(): Promise<void> {
  await bundle(bundleFolder);
}
