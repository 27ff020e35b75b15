import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root, textOf } from './tree.ts';

const run = promisify(execFile);
const crd = 'deploy/crds/multinic.io_multinicnodeconfigs.yaml';

/** The only file of `test` that a generated page needs. */
const killPoints = 'test/chain/crash/kill-points.ts';

describe('generated files', () => {
  it('fail the check when one is stale, by name', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'generated-'));
    try {
      for (const part of ['src', 'deploy', 'docs', 'charts', 'package.json', killPoints]) {
        await cp(join(root, part), join(copy, part), { recursive: true });
      }
      await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
      await writeFile(join(copy, crd), textOf(crd).replace('mnnc', 'old'));
      const check = run(process.execPath, [join(copy, 'deploy/generate.ts'), '--check']);
      await expect(check).rejects.toThrow(`${crd} is stale; run: npm run generate`);
    } finally {
      await rm(copy, { recursive: true });
    }
  });
});
