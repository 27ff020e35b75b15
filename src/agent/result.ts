import type { Family, Fence, JobRequest, JobResult, NicResult, ReportedNic } from '../api/job.ts';
import { interfaceName } from '../api/names.ts';
import type { Failure } from './apply/rollback.ts';
import { readSettings } from './observe/host.ts';
import type { Refusal } from './planning/refusals.ts';
import { foreignSettings } from './planning/settings.ts';
import type { RefusedNic, Target, Unit } from './planning/unit.ts';
import type { RequestIdentity } from './request.ts';
import type { AgentState } from './state.ts';

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
  /** Foreign state lost since the start of the run, as text. */
  readonly foreignStateLost?: readonly string[];
  /** NICs in state.json; `fence` is the newest object state the host has seen. */
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
    ...lossesIn(report),
  } as const;
  const shortened = refusal && { ...refusal, message: shorten(refusal.message, maxRefusalBytes) };
  for (let bytes = maxMessageBytes; ; bytes -= 20) {
    const result = {
      ...shared,
      ...(shortened ? { refusal: shortened } : {}),
      ...listsOf(report, bytes),
      ...(protocol >= 2 ? knownOf(report, bytes) : {}),
    };
    if (bytes <= -20 || Buffer.byteLength(JSON.stringify(result)) <= maxBytes) return result;
  }
}

/** Drops port ids and carriers if space is short: the MAC still identifies the NIC. */
function listsOf({ nics, warnings: others, foreignStateLost = [] }: Report, bytes: number) {
  const warnings = [...foreignStateLost.slice(0, maxLosses).map(lossWords), ...others];
  return {
    nics: nics.slice(0, 20).map(({ portId, carrier, ...nic }) => ({
      ...nic,
      ...(portId && bytes >= 0 ? { portId } : {}),
      ...(carrier !== undefined && bytes > 0 ? { carrier } : {}),
      message: shorten(nic.message, Math.max(bytes, 0)),
    })),
    warnings: bytes > 0 ? warnings.slice(0, 20).map((warning) => shorten(warning, 80)) : [],
  };
}

function lossesIn({ foreignStateLost: { length } = [] }: Report) {
  return length > 0 ? { foreignStateLost: length } : {};
}

/** Number of foreign losses in the result: space is short, and the log has more. */
const maxLosses = 5;

function lossWords(what: string): string {
  return `ForeignStateLost ${what}`;
}

function knownOf({ known = [], fence }: Report, bytes: number) {
  const nics = known.map(({ mac, index, portId }) =>
    portId && bytes > 0 ? { mac, index, portId } : { mac, index },
  );
  return { known: nics, ...(fence ? { fence } : {}) };
}

/** True if the NIC is as requested. */
export function isGood({ state }: NicResult): boolean {
  return state === 'Configured' || state === 'Removed';
}

function outcomeOf({ refusal, failed = false, nics }: Report): JobResult['outcome'] {
  if (refusal) return 'refused';
  const good = nics.filter(isGood).length;
  if (good === nics.length && !failed) return 'ok';
  return good > 0 ? 'partial' : 'failed';
}

/** Returns the text in at most `maxLength` bytes of UTF-8, on one line, cut between characters. */
export function shorten(text: string, maxLength: number): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  if (Buffer.byteLength(line) <= maxLength) return line;
  const mark = maxLength >= 3 ? '…' : '';
  let bytes = Buffer.byteLength(mark);
  let prefix = '';
  for (const character of line) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxLength) break;
    prefix += character;
  }
  return prefix + mark;
}

/** Returns a transaction's result: success, or the failure. */
export function unitResult({ action, target, before, after }: Unit, failure?: Failure): NicResult {
  if (failure) return failedResult(target, failure.name ?? before.link?.name ?? '', failure);
  const done = action === 'apply' ? 'Configured' : 'Removed';
  return { ...target, name: after.link?.name ?? '', state: done, reason: done, message: '' };
}

/** Returns the result for an untouched NIC. */
export function refusedResult({ target, name, refusal }: RefusedNic): NicResult {
  return failedResult(target, name, refusal);
}

function failedResult(target: Target, name: string, { reason, message }: Refusal): NicResult {
  const state = reason === 'WaitingForNIC' ? 'Pending' : 'Failed';
  return { ...target, name, state, reason, message };
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

/** Returns the NICs and the fence the host remembers, for a controller without these records. */
export function memoryOf({ nics, fence }: AgentState, { interfaces }: JobRequest) {
  const ports = new Map(interfaces.map(({ mac, portId }) => [mac, portId]));
  const known = nics.map(({ mac, index }) => {
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
