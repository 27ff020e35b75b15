import {
  type Family,
  type Fence,
  type JobRequest,
  type JobResult,
  type NicReason,
  type NicResult,
  type Protocol,
  type ReportedNic,
  reasonFor,
} from '../api/job.ts';
import { interfaceName } from '../api/names.ts';
import { type Coded, coded } from '../api/nic-codes.ts';
import type { Failure } from './apply/rollback.ts';
import { readSettings } from './observe/host.ts';
import type { Refusal } from './planning/refusals.ts';
import { foreignSettings } from './planning/settings.ts';
import type { RefusedNic, Target, Unit } from './planning/unit.ts';
import type { RequestIdentity } from './request.ts';
import { shorten } from './shorten.ts';
import type { AgentState, NicRecord } from './state.ts';

/** Kubernetes limits a termination message to 4,096 bytes. */
const maxBytes = 4_000;
const maxMessageBytes = 120;
const maxRefusalBytes = 400;

type RefusalReason = NonNullable<JobResult['refusal']>['reason'];

/** Findings from a run, before fitting them into a termination message. */
export interface Findings {
  readonly refusal?: NonNullable<JobResult['refusal']>;
  /** Set if more failed than the NIC results show. */
  readonly failed?: boolean;
  readonly nics: readonly NicResult[];
  readonly warnings: readonly string[];
  /** NICs on the host; undefined: not read. `fence` is the newest object state the host has seen. */
  readonly known?: readonly ReportedNic[];
  readonly fence?: Fence;
  readonly family?: Family;
}

export interface Report extends Findings {
  readonly identity: RequestIdentity;
  readonly bootId: string;
}

/** Returns a run's result: all NICs, with messages as long as space permits. */
export function jobResultOf(report: Report): JobResult {
  const { identity, bootId, refusal } = report;
  const { protocol, uid, generation, attempt } = identity;
  const shared = {
    protocol,
    uid,
    generation,
    attempt,
    bootId,
    outcome: outcomeOf(report),
    ...(report.family ? { family: report.family } : {}),
  } as const;
  const shortened = refusal && { ...refusal, message: shorten(refusal.message, maxRefusalBytes) };
  const resultWith = (detail: Detail): JobResult => ({
    ...shared,
    ...(shortened ? { refusal: shortened } : {}),
    ...listsOf(report, protocol, detail),
    ...(protocol >= 2 ? knownOf(report, detail.bytes) : {}),
  });
  const isShort = (detail: Detail) =>
    Buffer.byteLength(JSON.stringify(resultWith(detail))) <= maxBytes;
  return resultWith(details.find(isShort) ?? shortest);
}

/** Details per NIC in a result. */
interface Detail {
  /** Maximum message length in bytes. */
  readonly bytes: number;
  /** Values in the message. */
  readonly args: boolean;
  /** Configuration by other programs: completely, only its file and stanza, or not at all. */
  readonly found: 'all' | 'file' | 'none';
}

/**
 * Attempts to fit a result, in order: first the values in messages are dropped, then foreign addresses and routes. File
 * and stanza stay while messages have room for a stanza.
 */
const details: readonly Detail[] = [
  { bytes: maxMessageBytes, args: true, found: 'all' },
  { bytes: maxMessageBytes, args: false, found: 'all' },
  ...[120, 100, 80, 60].map((bytes) => ({ bytes, args: false, found: 'file' }) as const),
  ...[40, 20, 0].map((bytes) => ({ bytes, args: false, found: 'none' }) as const),
];
const shortest: Detail = { bytes: -20, args: false, found: 'none' };

/** Drops port ids, carriers and codes if space is short: the MAC still identifies the NIC. */
function listsOf({ nics, warnings }: Report, protocol: Protocol, { bytes, ...detail }: Detail) {
  return {
    nics: nics.slice(0, 20).map(({ portId, carrier, code, args, found, ...nic }) => ({
      ...nic,
      reason: reasonFor(nic.reason, protocol),
      ...(portId && bytes >= 0 ? { portId } : {}),
      ...(carrier !== undefined && bytes > 0 ? { carrier } : {}),
      ...(protocol >= 5 && bytes > 0 ? codedIn({ code, args }, detail.args) : {}),
      ...(protocol >= 5 ? foundIn(found, detail.found) : {}),
      message: shorten(nic.message, Math.max(bytes, 0)),
    })),
    warnings: bytes > 0 ? warnings.slice(0, 20).map((warning) => shorten(warning, 80)) : [],
  };
}

function foundIn(found: NicResult['found'], detail: Detail['found']): Pick<NicResult, 'found'> {
  if (!found || detail === 'none') return {};
  const { addresses: _, routes: __, nameServers: ___, ...rest } = found;
  return { found: detail === 'all' ? found : rest };
}

function codedIn({ code, args }: Pick<NicResult, 'code' | 'args'>, withArgs: boolean) {
  return { ...(code ? { code } : {}), ...(args && withArgs ? { args } : {}) };
}

/** Leaves out `known` if the run did not read the NICs: an empty list means a host without NICs. */
function knownOf({ known, fence }: Report, bytes: number) {
  const nics = known
    ?.slice(0, 20)
    .map(({ mac, index, portId }) =>
      portId && bytes > 0 ? { mac, index, portId } : { mac, index },
    );
  return { ...(nics ? { known: nics } : {}), ...(fence ? { fence } : {}) };
}

/** True if the run neither failed the NIC nor left work for a later run. */
export function isGood(nic: NicResult): boolean {
  return isCompleted(nic) || nic.state === 'Held';
}

/** Moves NICs with a blocked removal to the end: a result has room for 20 NICs, and `known` lists such NICs, too. */
export function stayingLast(unlisted: readonly NicResult[]): NicResult[] {
  return unlisted.toSorted((a, b) => Number(a.state === 'Held') - Number(b.state === 'Held'));
}

/** True if the run brought the NIC to the requested state. */
export function isCompleted({ state }: NicResult): boolean {
  return state === 'Configured' || state === 'Removed';
}

/** Returns the outcome of a run with these findings. */
export function outcomeOf({ refusal, failed = false, nics }: Findings): JobResult['outcome'] {
  if (refusal) return 'refused';
  const good = nics.filter(isGood).length;
  if (good === nics.length && !failed) return 'ok';
  return good > 0 ? 'partial' : 'failed';
}

/** Returns a transaction's result: success, or the failure. */
export function unitResult(unit: Unit, failure?: Failure): NicResult {
  const { action, target, before, after } = unit;
  if (failure) return failedResult(target, failure.name ?? before.link?.name ?? '', failure);
  const name = after.link?.name ?? '';
  const left = filesLeft(unit) ?? unit.atBoot;
  if (left) return failedResult(target, name, left);
  const done = action === 'apply' ? 'Configured' : 'Removed';
  return { ...target, name, state: done, reason: done, message: '' };
}

function filesLeft({ fileLeft }: Unit): Refusal | undefined {
  if (fileLeft === undefined) return undefined;
  const message = `${fileLeft} stays until its folder is back`;
  return { reason: 'FilesLeft', message, ...coded('FolderMissing', { path: fileLeft }) };
}

/** Returns the result for an untouched NIC. */
export function refusedResult({ target, name, refusal }: RefusedNic): NicResult {
  return failedResult(target, name, refusal);
}

function failedResult(
  target: Target,
  name: string,
  { reason, message, code, args }: Refusal & Partial<Coded>,
): NicResult {
  const state = stateOf(reason);
  return {
    ...target,
    name,
    state,
    reason,
    message,
    ...(code ? { code } : {}),
    ...(args ? { args } : {}),
  };
}

function stateOf(reason: NicReason): NicResult['state'] {
  if (reason === 'WaitingForNIC' || reason === 'AdoptedAtBoot') return 'Pending';
  return reason === 'RemovalHeld' ? 'Held' : 'Failed';
}

/** Returns warnings about correct NICs: settings changed by foreign software, and names kept. */
export function warningsOf(nics: readonly NicResult[], sysctls: string): string[] {
  const configured = nics.filter(({ state }) => state === 'Configured');
  return [
    ...configured.flatMap(({ name }) => {
      const changed = foreignSettings(readSettings(sysctls, name));
      return changed.length > 0 ? [`SettingsKept ${name} ${changed.join(' ')}`] : [];
    }),
    ...configured
      .filter(({ name, index }) => name !== interfaceName(index))
      .map(({ name, index }) => `NameKept ${name}, not ${interfaceName(index)}`),
  ];
}

/**
 * Returns the NICs and the fence the host remembers, for a controller without these records. NICs with a blocked
 * removal count without a record in state.json, such as NICs of the legacy agent.
 */
export function memoryOf(
  { nics, fence }: AgentState,
  { interfaces }: JobRequest,
  blocked: readonly NicRecord[] = [],
) {
  const ports = new Map(interfaces.map(({ mac, portId }) => [mac, portId]));
  const recorded = new Set(nics.map(({ mac }) => mac));
  const unrecorded = blocked.filter(({ mac }) => !recorded.has(mac));
  const known = [...nics, ...unrecorded].map(({ mac, index }) => {
    const portId = ports.get(mac);
    return { mac, index, ...(portId ? { portId } : {}) };
  });
  return { known, ...(fence ? { fence } : {}) };
}

/** A host with another network manager and without managed NICs is already clean. */
export function ofWrongFamily(
  request: JobRequest,
  known: readonly unknown[],
  message: string,
): Findings {
  const isRequested = request.action !== 'cleanup' && request.interfaces.length > 0;
  if (known.length === 0 && !isRequested) return { nics: [], warnings: [] };
  return failedWhole(request, { reason: 'WrongFamily', message });
}

/** Refuses the whole request; no NIC was examined. */
export function refusedWhole(reason: RefusalReason, message: string): Findings {
  return { refusal: { reason, message }, nics: [], warnings: [] };
}

/** Fails every NIC in the request for the same reason. */
export function failedWhole({ interfaces }: JobRequest, refusal: Refusal): Findings {
  const nics = interfaces.map(({ mac, index, portId }) =>
    refusedResult({ target: { mac, index, ...(portId ? { portId } : {}) }, name: '', refusal }),
  );
  // Without NICs, only warnings can carry the message.
  return { nics, warnings: nics.length === 0 ? [refusal.message] : [], failed: true };
}
