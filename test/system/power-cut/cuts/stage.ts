import type { SavedGuest } from '../../../../rig/hosts/guest/guest.ts';
import type { JobRequest } from '../../../../src/api/job.ts';
import { type NicsState, stateOf } from '../../distros/nic-state.ts';
import { GuestHost, inTime } from '../guest-host.ts';
import { contentOf, type DiskContent } from './disk.ts';
import { type GuestLife, plugged } from './scenes.ts';

/** A booted host with one of our configurations, without any power cut. */
export interface Picture {
  readonly nics: NicsState;
  readonly content: DiskContent;
  /** Failed systemd units. */
  readonly failed: string;
}

/** Initial state of a scene, and the booted states before and after the change. */
export class Stage implements AsyncDisposable {
  readonly scene: GuestLife;
  readonly saved: SavedGuest;
  readonly old: Picture;
  readonly new: Picture;
  /** How long a run took, from outside. */
  readonly runMs: number;

  private constructor(
    scene: GuestLife,
    saved: SavedGuest,
    known: Pick<Stage, 'old' | 'new' | 'runMs'>,
  ) {
    this.scene = scene;
    this.saved = saved;
    this.old = known.old;
    this.new = known.new;
    this.runMs = known.runMs;
  }

  static async open(scene: GuestLife, program: string): Promise<Stage> {
    const { family, life } = scene;
    const { saved, old } = await begin(scene, program);
    try {
      await using host = await GuestHost.resume(family, saved);
      const start = performance.now();
      await good(host, life.asked);
      const runMs = performance.now() - start;
      await host.reboot();
      return new Stage(scene, saved, { old, new: await pictureOf(host), runMs });
    } catch (error) {
      await saved[Symbol.asyncDispose]();
      throw error;
    }
  }

  resume(): Promise<GuestHost> {
    return GuestHost.resume(this.scene.family, this.saved);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.saved[Symbol.asyncDispose]();
  }
}

async function begin({ family, life }: GuestLife, program: string) {
  await using host = await GuestHost.boot(family, program, plugged);
  for (const asked of life.before) await good(host, asked);
  if (life.before.length > 0) await host.reboot();
  const old = await pictureOf(host);
  return { saved: await host.guest.save(), old };
}

async function good(host: GuestHost, asked: JobRequest): Promise<void> {
  const { result, log } = await host.agent(asked);
  if (result.outcome !== 'ok') throw new Error(log);
}

export async function pictureOf(host: GuestHost): Promise<Picture> {
  await host.managerIsDone();
  await inTime(async () => {
    const probed = await host.sh('ip', '-6', 'addr', 'show', 'tentative');
    if (probed !== '') throw new Error(`still probed: ${probed}`);
  });
  await host.sh('sync');
  await using copy = await host.guest.cutCopy();
  const [nics, content] = [await stateOf(host), await contentOf(copy)];
  return { nics, content, failed: await failedUnits(host) };
}

export function failedUnits(host: GuestHost): Promise<string> {
  return host.sh('systemctl', 'list-units', '--failed', '--plain', '--no-legend');
}
