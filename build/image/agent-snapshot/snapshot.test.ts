import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildAgentSnapshot } from './snapshot.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-snapshot-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe("the agent's startup snapshot", () => {
  it("the snapshot contains V8's code cache", async () => {
    const blob = join(folder, 'app/agent.blob');
    await buildAgentSnapshot(process.execPath, blob, join(folder, 'work'));
    const { size } = await stat(blob);
    expect(size).toBeGreaterThan(8_000_000);
    expect(size).toBeLessThan(11_000_000);
  });

  it.each([
    ['exits with 1', '#!/bin/false\n'],
    ['is of another architecture', '\u007fELF'],
    ['writes no snapshot', '#!/bin/true\n'],
  ])('the snapshot build fails and names the Node.js when the binary %s', async (_why, program) => {
    const node = join(folder, 'node');
    await writeFile(node, program, { mode: 0o755 });
    const built = buildAgentSnapshot(node, join(folder, 'agent.blob'), join(folder, 'work'));
    await expect(built).rejects.toThrow(`${node} makes no startup snapshot of the agent`);
  });
});
