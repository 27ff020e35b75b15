import { findCondition } from '../../../src/api/condition.ts';
import { annotations } from '../../../src/api/names.ts';
import type { NodeConfig } from '../../../src/controller/objects/stores.ts';
import { consentToDeletion } from './acts/deletions.ts';
import { undoOn } from './acts/edits.ts';
import { repairLedger } from './acts/losses.ts';
import { macsOf } from './cluster.ts';
import type { Life } from './life.ts';

/** Steps of one second (15 min) until all objects are settled: three retries at the longest delay. */
const patienceSteps = 900;
const stepMs = 1_000;
/** Consecutive steps without an open object. */
const calmSteps = 10;

/** Undoes all edits, fixes all faults, and waits until each live object is settled. Returns the objects that are not. */
export async function settle(life: Life): Promise<readonly string[]> {
  await mend(life);
  for (let step = 0, calm = 0; step < patienceSteps && calm < calmSteps; step += 5) {
    await life.pass(5, step < 30 ? 200 : stepMs);
    // A conflict or a check may still start another agent run.
    calm = openIn(life).length > 0 ? 0 : calm + 5;
  }
  return [...openIn(life), ...falselyReadyIn(life)];
}

async function mend(life: Life): Promise<void> {
  const { cluster, hosts, names } = life;
  await repairLedger(life);
  for (const nodes of [hosts.old, hosts.losing, hosts.unplugged]) nodes.clear();
  await life.restart();
  for (const host of names) await cluster.join(host);
  for (const host of names) await undoOn(life, host);
  for (const { metadata } of cluster.objects()) {
    // Other objects for the same node wait until a held deletion has completed.
    if (metadata.deletionTimestamp) await consentToDeletion(life, metadata.name);
    await cluster.annotate(metadata.name, { [annotations.rolloutContinue]: 'settled' });
  }
}

/** Returns objects in deletion, and live objects that list NICs and are neither ready nor held. */
function openIn(life: Life): readonly string[] {
  const leaving = life.cluster
    .objects()
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map((config) => `${config.metadata.name} is not gone: ${readyOf(config)}`);
  const open = liveIn(life)
    .filter(({ metadata }) => life.cluster.wantedOf(metadata.name).interfaces.length > 0)
    .filter((config) => !/^(True|False RemovalHeld)/.test(readyOf(config)))
    .map((config) => `${config.metadata.name} is not settled: ${readyOf(config)}`);
  return [...leaving, ...open];
}

/** Returns objects that are ready although their hosts have NICs that their specs do not list. */
function falselyReadyIn(life: Life): readonly string[] {
  return liveIn(life).flatMap((config) => {
    const { name } = config.metadata;
    const { instanceId, interfaces } = life.cluster.wantedOf(name);
    const host = instanceId.slice(-1);
    const listed = new Set(macsOf(interfaces));
    const unlisted = life.hosts.macsOn(host).filter((mac) => !listed.has(mac));
    if (unlisted.length === 0 || !readyOf(config).startsWith('True')) return [];
    return [`${name} is ready, and ${host} has ${unlisted.join(', ')}`];
  });
}

function liveIn(life: Life): readonly NodeConfig[] {
  return life.cluster.objects().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Returns the condition Ready of the current generation, as `True AllInterfacesConfigured: message`. */
function readyOf({ metadata, status }: NodeConfig): string {
  const ready = findCondition(status?.conditions, 'Ready');
  if (!ready || ready.observedGeneration !== metadata.generation) return 'not processed';
  return `${ready.status} ${ready.reason}: ${ready.message}`;
}
