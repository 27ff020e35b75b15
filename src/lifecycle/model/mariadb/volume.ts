import { annotations, managedObjects } from '../../../api/names.ts';
import { claims, type PersistentVolumeClaim } from '../../../kube/core-resources.ts';
import type { Notice, Observed } from '../stage.ts';
import { type Operation, recordIn } from './operation-record.ts';
import { isSwap } from './operation-runs.ts';
import { databasePod, installedAt, serverVersion } from './pod-state.ts';
import { runResults } from './run-result.ts';

/**
 * Returns the identity of the data to store on the backup claim: the first data, and new data after a restore or a
 * user's acceptance. A claim's volume may be emptied under the same uid, thus the installation time belongs to it.
 */
export function notedVolume(observed: Observed): string | undefined {
  const before = volumeIn(observed);
  const present = endedRestore(observed)?.volume ?? identityOf(observed);
  if (present === undefined) return before;
  if (before === undefined) return present;
  if (isSameVolume(before, present)) return before.includes('/') ? before : present;
  return isAccepted(observed, before, present) ? present : before;
}

/** Returns the identity of the present volume with the time of its installation; undefined: a part is unknown. */
export function installedVolume(observed: Observed): string | undefined {
  const present = identityOf(observed);
  return present?.includes('/') ? present : undefined;
}

/** Uid of the claim and, once the init container has ended, time of the installation. */
function identityOf(observed: Observed): string | undefined {
  const uid = dataClaim(observed)?.metadata.uid;
  const pod = databasePod(observed);
  const at = installedAt(pod) ?? (serverVersion(pod) === undefined ? undefined : unknownTime);
  return uid === undefined || at === undefined ? uid : `${uid}/${at}`;
}

/** For data of an earlier release: a known time afterwards means another installation. */
const unknownTime = 'unknown';

/** An unknown time is no other installation, because init containers of earlier releases report none. */
function isSameVolume(before: string, present: string): boolean {
  const [[uid, at], [presentUid, presentAt]] = [before.split('/'), present.split('/')];
  const isUnknown = at === undefined || presentAt === undefined || presentAt === unknownTime;
  return uid === presentUid && (isUnknown || at === presentAt);
}

/** Returns volume problems: a claim in deletion, and a new empty volume. */
export function volumeNotices(observed: Observed): readonly Notice[] {
  const claim = dataClaim(observed);
  const backups = observed.objects.find(claims, managedObjects.backup);
  return [
    ...[claim, backups].flatMap((one) => (one?.metadata.deletionTimestamp ? [leaving(one)] : [])),
    ...(isReplaced(observed) ? [replaced()] : []),
  ];
}

/** True if the data differs from the former data, and no restore has filled it. */
export function isReplaced(observed: Observed): boolean {
  const before = volumeIn(observed);
  const present = identityOf(observed);
  if (before === undefined || present === undefined || isSameVolume(before, present)) return false;
  return !isAccepted(observed, before, present);
}

/** An ending restore fills the volume; the value `empty` accepts an empty volume once. */
function isAccepted(observed: Observed, before: string, present: string): boolean {
  const request = emptyRequest(observed);
  if (request !== undefined && request !== handledRestore(observed)) return true;
  const ended = endedRestore(observed);
  if (ended) return ended.volume === undefined || isSameVolume(ended.volume, present);
  return isOtherClaim(before, present) && hasSwapped(observed);
}

/** Returns the stored restore if it succeeded: its annotation goes with the claim, as the data does. */
function endedRestore(observed: Observed): Operation | undefined {
  const { operation } = recordIn(observed);
  return operation?.outcome && operation.outcome.failure === undefined ? operation : undefined;
}

function isOtherClaim(before: string, present: string): boolean {
  return before.split('/')[0] !== present.split('/')[0];
}

/** True if a swap succeeded whose Pod is newer than the data claim. The API server sets both times. */
function hasSwapped(observed: Observed): boolean {
  const since = Date.parse(dataClaim(observed)?.metadata.creationTimestamp ?? '');
  return runResults(observed).some(
    ({ job, succeeded, createdAt }) => succeeded && isSwap(job) && Date.parse(createdAt) > since,
  );
}

const acceptEmpty = 'empty';

/** Values for annotation `multinic.io/restore`: accept a new empty volume. */
const emptyForm = /^empty(?:@.*)?$/;

/** Returns the annotation if it accepts an empty volume, also if it is handled. */
export function emptyRequest({ operator }: Observed): string | undefined {
  const request = operator.metadata.annotations?.[annotations.restore];
  return isEmptyValue(request) ? request : undefined;
}

export function isEmptyValue(request: string | undefined): boolean {
  return request !== undefined && emptyForm.test(request);
}

/** Returns the request to note as handled: without a volume the acceptance waits. */
export function acceptedEmpty(observed: Observed): string | undefined {
  return identityOf(observed) === undefined ? undefined : emptyRequest(observed);
}

/** Returns the last handled request, which the backup claim stores because a status may be lost. */
export function handledRestore({ objects }: Observed): string | undefined {
  const claim = objects.find(claims, managedObjects.backup);
  return claim?.metadata.annotations?.[annotations.restore];
}

function dataClaim({ objects }: Observed): PersistentVolumeClaim | undefined {
  return objects.find(claims, managedObjects.databaseClaim);
}

function volumeIn({ objects }: Observed): string | undefined {
  const claim = objects.find(claims, managedObjects.backup);
  return claim?.metadata.annotations?.[annotations.databaseVolume];
}

function leaving({ metadata: { name, finalizers = [] } }: PersistentVolumeClaim): Notice {
  const held = finalizers.length > 0 ? ` (${finalizers.join(', ')})` : '';
  return {
    condition: 'Degraded',
    reason: 'VolumeLeaving',
    message: `claim ${name} is being deleted: its data goes when the last Pod with it ends${held}; copy the data away first, a deletion cannot be taken back`,
  };
}

function replaced(): Notice {
  return {
    condition: 'Degraded',
    reason: 'VolumeReplaced',
    message: `claim ${managedObjects.databaseClaim} has a new or emptied volume, so the former data is missing, and scheduled backups are suspended; restore it: set ${annotations.restore} to latest, or to ${acceptEmpty} to start without it, with @TEXT if ${acceptEmpty} is the present value`,
  };
}
