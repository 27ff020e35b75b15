import { expect, it, vi } from 'vitest';
import { textOf } from '../../repo/tree.ts';
import { inTurn } from '../../rotation.ts';
import { run } from '../e2e/guide/shell.ts';
import {
  annotate,
  kubectl,
  operatorName,
  patient,
  podsOf,
  rootSql,
  statusOf,
  untilStatus,
} from './acts.ts';
import type { LifecycleClusters } from './world.ts';

const guide = textOf('docs/guides/lifecycle.md');

export async function setImage(world: LifecycleClusters, image: string): Promise<void> {
  const patch = JSON.stringify({ spec: { database: { image } } });
  await kubectl(world, 'patch', 'multinicoperator', operatorName, '--type=merge', '-p', patch);
}

export async function makeBackup(world: LifecycleClusters, name: string): Promise<void> {
  await kubectl(world, 'create', 'job', '--from=cronjob/mariadb-backup', name);
}

export async function untilRestored(world: LifecycleClusters, request: string): Promise<void> {
  const lastRestore = { request, result: 'Succeeded' };
  await untilStatus(world, { databaseStatus: { lastRestore } });
}

async function untilDegraded(
  world: LifecycleClusters,
  reason: string,
  text: string,
): Promise<void> {
  await vi.waitFor(async () => {
    const { phase, message, conditions } = (await statusOf(world.management)) ?? {};
    const ready = conditions?.find(({ type }) => type === 'Ready');
    expect({ phase, reason: ready?.reason }, message).toEqual({ phase: 'Degraded', reason });
    expect(message).toContain(text);
  }, patient);
}

/** Runs the commands in a section of the guide. */
async function drill(world: LifecycleClusters, title: string): Promise<void> {
  const sections = guide.split(/^##+ /m);
  const section = sections.find((text) => text.startsWith(`${title}\n`)) ?? '';
  const blocks = [...section.matchAll(/^```sh example\n(.*?)^```$/gms)].map(([, text]) => text);
  expect(blocks, title).toHaveLength(1);
  const { cwd, env } = world.shell;
  await run({ cwd, env }, blocks[0] ?? '');
}

/** Runs a script as root on the management cluster's node. */
export const onNode = (world: LifecycleClusters, script: string) =>
  world.manager.sh(['sh', '-ec', script]);

/** Runs a script where the kubelet mounts volumes: in its mount namespace. */
async function besideKubelet(world: LifecycleClusters, script: string): Promise<void> {
  const enter =
    'for each in /proc/[0-9]*; do [ "$(cat $each/comm 2>/dev/null)" != kubelet ] || pid=${each#/proc/}; done; exec nsenter --target $pid --mount sh -ec "$1"';
  await world.manager.sh(['sh', '-ec', enter, 'sh', script]);
}

async function restartMariadb(world: LifecycleClusters): Promise<void> {
  await kubectl(world, 'delete', 'pod', 'mariadb-0');
  await vi.waitFor(
    async () =>
      expect(await kubectl(world, 'get', 'pod', 'mariadb-0', '-o', 'wide')).toContain('1/1'),
    patient,
  );
}

/** Folder of a claim on the node. */
export async function folderOf(world: LifecycleClusters, claim: string): Promise<string> {
  const name = await kubectl(world, 'get', 'pvc', claim, '-o', 'jsonpath={.spec.volumeName}');
  return `/var/lib/volumes/${name.trim()}`;
}

async function allowOperations(
  world: LifecycleClusters,
  allowedOperations: readonly string[],
): Promise<void> {
  const patch = JSON.stringify({ spec: { protection: { allowedOperations } } });
  await kubectl(world, 'patch', 'multinicoperator', operatorName, '--type=merge', '-p', patch);
}

/** Expects root's view and trigger. */
export async function expectSiteObjects(world: LifecycleClusters): Promise<void> {
  expect(await rootSql(world, 'SELECT n FROM site_report')).toMatch(/^[1-9]/);
  expect(await rootSql(world, 'SHOW TRIGGERS')).toContain('site_trigger');
}

/** Checks on the installation. */
interface Expected {
  readonly expectNothingLost: () => Promise<void>;
  /** Waits for a running installation with the former data. */
  readonly untilRepaired: () => Promise<void>;
}

/** Registers the failures in section Drills of the guide. */
export function testDrills(
  world: () => LifecycleClusters,
  { expectNothingLost, untilRepaired }: Expected,
): void {
  // Each run repairs some of the failures; the long suite repairs all.
  const inDrill = inTurn('drills', 3, (title: string, test: () => Promise<void>) =>
    it(title, test),
  );

  inDrill('a failed restore leaves the former data, and a wrong restore is undone', async () => {
    await rootSql(
      world(),
      "REVOKE ALL PRIVILEGES ON `multinic\\_before\\_restore`.* FROM multinic_backup@'%'",
    );
    await annotate(world(), 'multinic.io/restore=latest@2');
    await untilDegraded(world(), 'RestoreFailed', 'the former tables are live');
    await expectNothingLost();
    await restartMariadb(world());
    await drill(world(), 'Wrong restore');
    await untilRepaired();
  });

  inDrill('an image that does not exist changes nothing', async () => {
    const pods = await podsOf(world(), 'app=mariadb');
    await setImage(world(), 'mariadb:10.1l');
    await untilDegraded(world(), 'ImageUnusable', 'mariadb:10.1l');
    await drill(world(), 'Failed upgrade');
    await untilRepaired();
    expect(await podsOf(world(), 'app=mariadb')).toEqual(pods);
  });

  inDrill('a table whose file is lost fails the backup, and is restored', async () => {
    await onNode(
      world(),
      `rm ${await folderOf(world(), 'mysql-storage-mariadb-0')}/multinic/change_log.ibd`,
    );
    await restartMariadb(world());
    await makeBackup(world(), 'damaged');
    await untilDegraded(world(), 'BackupFailed', 'change_log');
    await drill(world(), 'Damaged table');
    await untilRestored(world(), 'latest!@damaged');
    await untilRepaired();
  });

  inDrill(
    'a full backup volume is named with the size, and a larger volume gets a backup',
    async () => {
      const folder = await folderOf(world(), 'mariadb-backup');
      await besideKubelet(
        world(),
        `cd ${folder}; rm -f $(ls multinic-*.sql | sort -r | tail -n +2); kept=$(mktemp -d); cp -a . $kept; cd /; mount -t tmpfs -o size=1m,mode=777 tmpfs ${folder}; cp -a $kept/. ${folder}; dd if=/dev/zero of=${folder}/ballast bs=4k 2>/dev/null || true`,
      );
      await makeBackup(world(), 'full');
      await untilDegraded(
        world(),
        'BackupVolumeFull',
        'set spec.database.backup.storageSize to at least',
      );
      // As a resizer does when the claim grows.
      const expansion = ['--type=merge', '-p', '{"allowVolumeExpansion":true}'];
      await kubectl(world(), 'patch', 'storageclass', 'local', ...expansion);
      await besideKubelet(world(), `mount -o remount,size=64m ${folder}`);
      await drill(world(), 'Full backup volume');
      await untilRepaired();
    },
  );

  inDrill('a deleted claim is named before and after its data goes, and is restored', async () => {
    await allowOperations(world(), ['get', 'list', 'watch', 'delete']);
    const claim = ['pvc', 'mysql-storage-mariadb-0', '--wait=false'];
    await vi.waitFor(async () => kubectl(world(), 'delete', ...claim), patient);
    await untilDegraded(world(), 'VolumeLeaving', 'mysql-storage-mariadb-0 is being deleted');
    await kubectl(world(), 'delete', 'pod', 'mariadb-0');
    await untilDegraded(world(), 'VolumeReplaced', 'has a new or emptied volume');
    await allowOperations(world(), ['get', 'list', 'watch']);
    await drill(world(), 'Lost volume');
    await untilRestored(world(), 'latest@lost');
    await untilRepaired();
  });
}
