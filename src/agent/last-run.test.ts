import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../process/log.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { type LastRun, lastRunText, writeLastRun } from './last-run.ts';

const run: LastRun = {
  request: { uid: 'uid-1', generation: 3, action: 'apply', attempt: 1 },
  plan: { removal: { units: [], refused: [] }, apply: { units: [], refused: [] } },
  findings: {
    nics: [
      {
        index: 0,
        mac: '02:00:00:00:01:01',
        name: '',
        state: 'Failed',
        reason: 'NodeConnectivityLost',
        message: 'the node no longer reached the API server; rolled back',
      },
    ],
    warnings: ['NotPersistent multinic0'],
  },
  before: { paths: { own: new Set(), lines: ['route get 10.96.0.1 (service): dev eth0'] } },
  after: { lines: [] },
};

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'multinic-last-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('report about a run', () => {
  it('has object, outcome, results, warnings and lookups', () => {
    expect(lastRunText(run, new Date('2026-01-02T03:04:05Z'))).toBe(`time: 2026-01-02T03:04:05.000Z
object: uid-1
generation: 3
action: apply, attempt 1
outcome: failed

results:
  0 02:00:00:00:01:01 (no link): Failed NodeConnectivityLost, the node no longer reached the API server; rolled back

warnings:
  NotPersistent multinic0

lookups before:
  route get 10.96.0.1 (service): dev eth0
`);
  });

  it('has at most 64 KiB', () => {
    const lines = Array.from({ length: 3_000 }, () => 'é'.repeat(20));
    const text = lastRunText({ ...run, after: { lines } }, new Date(0));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
    expect(text).toMatch(/… cut at 64 KiB\n$/);
  });

  it('is readable by all users, and a failing write is only logged', async () => {
    const logged: string[] = [];
    const context = {
      hostRoot: root,
      clock: createFakeClock(),
      perform: async <T>(_: string, write: () => Promise<T>) => write(),
      log: createLogger({
        part: 'agent',
        level: 'warn',
        destination: { write: (line: string) => logged.push(line) > 0 },
      }),
    };
    await writeLastRun(run, context);
    const file = join(root, 'var/lib/multinic/last.txt');
    expect(statSync(file).mode & 0o777).toBe(0o644);
    await writeLastRun({ ...run, request: { ...run.request, generation: 4 } }, context);
    expect(readFileSync(file, 'utf8')).toContain('generation: 4');
    expect(readFileSync(join(root, 'var/lib/multinic/last.1.txt'), 'utf8')).toContain(
      'generation: 3',
    );
    expect(logged).toEqual([]);
    rmSync(file);
    mkdirSync(file);
    mkdirSync(join(file, 'full'));
    mkdirSync(join(root, 'var/lib/multinic/last.txt.new'));
    await writeLastRun(run, context);
    expect(logged).toHaveLength(1);
  });
});
