import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mortalEnv } from '../../../rig/parts/mortal.ts';
import type { KillPoint, Part } from './kill-points.ts';
import { cleanUpLife, type Life, runLife } from './life.ts';
import type { Site } from './site.ts';

/** A life in which a part died, beside one in which none did. */
export interface Row {
  readonly point: KillPoint;
  readonly clean: Life;
  /** Missing: it did not come to its end. */
  readonly life: Life | undefined;
}

/** A life for each moment at which a part can die: the same end, and as many objects, as without a death. */
export function killSuite(
  points: readonly KillPoint[],
  open: () => Promise<Site>,
  report: (rows: readonly Row[]) => Promise<void> = async () => undefined,
): void {
  const rows: Row[] = [];
  let site: Site;
  let clean: Life;

  beforeAll(async () => {
    site = await open();
    // The first NIC of a host leaves folders behind; from then on lives are equal.
    await runLife(site);
    clean = await runLife(site);
  });

  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
    await report(rows);
  });

  afterEach(() => cleanUpLife(site));

  /** Lives once while the part dies at the point; says so when it never came there. */
  async function liveAndDie(point: KillPoint): Promise<Life> {
    const { part, at, id } = point;
    if (part !== 'agent') {
      await site.parts.stop(part);
      await site.prepare(point);
      return liveWithout(part, String(at));
    }
    await site.agent.dieAt(at);
    const life = await runLife(site, clean);
    expect(await site.agent.hasDied(), `${id} was never hit`).toBe(true);
    return life;
  }

  /** The part was stopped; it begins again, to die. */
  async function liveWithout(part: Exclude<Part, 'agent'>, moment: string): Promise<Life> {
    const { parts } = site;
    const armed = parts.restart(part, { ...mortalEnv, KILL_AT: moment });
    const ended = parts.ending(part);
    // It may die before it is ready; whoever comes after it is what answers then.
    void armed.catch(() => undefined);
    const life = runLife(site, clean);
    const how = await Promise.race([ended, life.then(() => 'never hit')]);
    expect(how).toBe('ended with SIGKILL');
    await parts.restart(part, { ...mortalEnv, KILL_AT: '' });
    return life;
  }

  describe('a life in which a part dies', () => {
    it.each(points)('at $id', async (point) => {
      const row = { point, clean, life: undefined };
      const at = rows.push(row) - 1;
      const life = await liveAndDie(point);
      rows[at] = { ...row, life };
      expect(life.configured).toEqual(clean.configured);
      expect(life.gone).toEqual(clean.gone);
      expect(life.created, life.writes.join('\n')).toEqual(withAttempts(clean.created, point));
    });
  });

  it('leaves no word of a refusal in the log of any part', async () => {
    for (const part of ['operator', 'viola', 'controller']) {
      expect(await readFile(site.parts.logOf(part), 'utf8')).not.toContain('"level":"fatal"');
    }
  });
}

/** A killed agent has said nothing: it is sent once more, which is a Job and its ConfigMap. */
export function withAttempts(created: Life['created'], { part, id }: KillPoint): Life['created'] {
  if (part !== 'agent' || id === 'agent.result.write after') return created;
  const { jobs = 0, configmaps = 0 } = created;
  return { ...created, jobs: jobs + 1, configmaps: configmaps + 1 };
}
