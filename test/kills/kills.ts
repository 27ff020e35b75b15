import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WirePort } from '../../rig/openstack/tenant.ts';
import { mortalProgram } from '../../rig/parts/program.ts';
import { openWorld, type Worker, type World } from '../chain/world.ts';
import { type KillPoint, killPoints, type Part } from './kill-points.ts';
import { bury, type Life, live } from './life.ts';
import { MortalAgent } from './mortal-agent.ts';

/** The preload that ends a process at one of its writes. */
const mortal = { NODE_OPTIONS: mortalProgram.slice(1, 3).join('=') };

/** A life for every moment at which one of these parts can die: the same end, and as many objects, as without a death. */
export function killSuite(...parts: readonly Part[]): void {
  const points = killPoints.filter(({ part }) => parts.includes(part));
  let directory: string;
  let agent: MortalAgent;
  let world: World;
  let worker: Worker;
  let port: WirePort;
  let clean: Life;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'multinic-kills-'));
    agent = new MortalAgent(directory);
    world = await openWorld(['worker-1'], {
      env: { ...mortal, LOG_LEVEL: 'debug', LEASE_DURATION: '2s' },
      agentCommand: await agent.command(),
    });
    [worker] = world.workers as [Worker];
    port = await world.tenant.createPort({ networkId: world.data.networkId });
    // The first NIC of a host leaves folders behind; from then on lives are equal.
    await live(world, worker, port);
    clean = await live(world, worker, port);
  });

  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  afterEach(() => bury(world, worker, port));

  /** Lives once while the part dies at the point; says so when it never came there. */
  async function liveAndDie({ part, at, id }: KillPoint): Promise<Life> {
    if (part !== 'agent') return liveWithout(part, String(at));
    if (typeof at === 'number') await agent.dieAtLine(worker.host, at);
    else await agent.dieAt(at);
    const life = await live(world, worker, port, clean);
    expect(agent.hasDied, `${id} was never hit`).toBe(true);
    return life;
  }

  async function liveWithout(part: Exclude<Part, 'agent'>, moment: string): Promise<Life> {
    await world.parts.stop(part);
    const armed = world.parts.restart(part, { ...mortal, KILL_AT: moment });
    const ended = world.parts.ending(part);
    // It may die before it is ready; whoever comes after it is what answers then.
    void armed.catch(() => undefined);
    const life = live(world, worker, port, clean);
    const how = await Promise.race([ended, life.then(() => 'never hit')]);
    expect(how).toBe('ended with SIGKILL');
    await world.parts.restart(part, { ...mortal, KILL_AT: '' });
    return life;
  }

  describe(`a life in which ${parts.join(', ')} dies`, () => {
    it.each(points)('at $id', async (point) => {
      const life = await liveAndDie(point);
      expect(life.configured).toEqual(clean.configured);
      expect(life.gone).toEqual(clean.gone);
      expect(life.created, life.writes.join('\n')).toEqual(withAttempts(clean.created, point));
    });
  });

  it('leaves no word of a refusal in the log of any part', async () => {
    for (const part of ['operator', 'viola', 'controller']) {
      expect(await readFile(world.parts.logOf(part), 'utf8')).not.toContain('"level":"fatal"');
    }
  });
}

/** A killed agent has said nothing: it is sent once more, which is a Job and its ConfigMap. */
function withAttempts(created: Life['created'], { part, id }: KillPoint): Life['created'] {
  if (part !== 'agent' || id === 'agent.result.write after') return created;
  const { jobs = 0, configmaps = 0 } = created;
  return { ...created, jobs: jobs + 1, configmaps: configmaps + 1 };
}
