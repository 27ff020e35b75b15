import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { PortView } from '../../api/read-http.ts';
import { blocks } from '../../api/reasons.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { isPlugged } from '../../plan/observation.ts';
import { unreadCloud } from '../missing-texts.ts';
import { nextFor } from '../next-steps.ts';
import type { PortConfigView, Subject } from '../subject.ts';
import { ageOf, nextTry, ofMessage, same } from '../wording.ts';
import { fail, type Outcome, skipped, warn } from './outcome.ts';

/** Returns NotSyncedYet for an edited OpenstackConfig: the known selection is from the previous generation. */
export function awaitsSync(
  config: PortConfigView,
  { facts, nic }: Subject,
  { verdict }: PortView,
): Outcome | undefined {
  if (config.ready !== 'Unknown' || config.reason !== 'WaitingForTrigger') return undefined;
  return nic || verdict?.nic !== undefined ? undefined : notSyncedYet(config, facts.now);
}

/** Returns why no sync has decided about the port's current state. */
export function notSynced(subject: Subject, port: PortView): Outcome | undefined {
  const { config, facts } = subject;
  if (!config) return undefined;
  const failing = failingSync(config, subject, port);
  if (failing) return failing;
  if (isDecided(config, subject, port)) return undefined;
  // After an operator restart only the node shows whether the port is a NIC.
  if (!port.verdict && port.node && facts.node.state === 'unread') return skipped(facts.node);
  return notSyncedYet(config, facts.now);
}

/** True if a later step has the answer: the port is a NIC, has a verdict, or cannot be delivered. */
function isDecided(config: PortConfigView, { nic, object }: Subject, port: PortView): boolean {
  if (nic) return true;
  if (port.verdict) return !isStale(port, config, statusesOf(object));
  // The first sync reads the nodes through Viola before it decides.
  return config.ready === 'False' && blocks(config.reason, 'delivery');
}

function notSyncedYet(config: PortConfigView, now: Date): Outcome {
  const next = nextFor('NotSyncedYet', { config: config.config });
  return fail('NotSyncedYet', syncTimes(config, now), next);
}

/** Returns why the OpenstackConfig is not synced at all; existing NICs stay unchanged. */
export function failingSync(
  config: PortConfigView,
  { nic, facts }: Subject,
  { verdict }: PortView,
): Outcome | undefined {
  const found = problemOf(config, verdict, facts.now);
  if (!found) return undefined;
  const { reason, evidence } = found;
  const next = nextFor(reason, { config: config.config });
  const hasNic = nic !== undefined || verdict?.nic !== undefined;
  if (!hasNic) return fail(reason, evidence, next);
  // The last sync knew the NIC; the port's present state is unread.
  return { ...warn(reason, evidence, next), missing: unreadCloud(config.config, config) };
}

/** True if the last sync decided about an older selection, or about a port without address. */
function isStale(port: PortView, { config, selectsSubnet }: PortConfigView, statuses: Statuses) {
  const { verdict, addresses, deviceOwner, status } = port;
  if (!verdict || verdict.config !== config) return true;
  const { nic, reason } = verdict;
  if (nic !== undefined) return false;
  if (reason === 'SubnetNotSelected') return selectsSubnet === true;
  if (reason === 'PortWithoutAddress') return addresses.length > 0;
  if (reason === 'PortNotPlugged') return isPlugged({ deviceOwner });
  return reason === 'PortStatus' && statuses.includes(status);
}

type Statuses = readonly string[];

/** Port statuses for NICs, by default ACTIVE and DOWN. */
function statusesOf(object: OpenstackConfig | undefined): Statuses {
  return object?.spec.settings?.openstackPortAllowedStatuses ?? ['ACTIVE', 'DOWN'];
}

interface Problem {
  readonly reason: string;
  readonly evidence: Wording;
}

/** Returns why the OpenstackConfig is not synced at all. */
function problemOf(
  config: PortConfigView,
  verdict: PortView['verdict'],
  now: Date,
): Problem | undefined {
  const { paused, ready, reason, message, nextSyncAt } = config;
  if (paused !== undefined) {
    const evidence = filled(whyTexts.paused, {
      config: config.config,
      value: JSON.stringify(paused),
      message,
    });
    return { reason: 'Paused', evidence };
  }
  const isPartial = blocks(reason, 'servers') && verdict === undefined;
  // ConfigError about a selected subnet's address family does not end the sync.
  const isOfFamily = reason === 'ConfigError' && verdict?.reason === 'FamilyNotWanted';
  const isFailing = (blocks(reason, 'sync') && !isOfFamily) || isPartial;
  if (ready !== 'False' || !isFailing) return undefined;
  const words = ofMessage(reason, message);
  const next = nextTry(nextSyncAt, now);
  const evidence = filled(whyTexts.syncFails, { config: config.config, words, next });
  return { reason, evidence };
}

function syncTimes(
  { config, trigger, lastSyncAt, nextSyncAt, message }: PortConfigView,
  now: Date,
) {
  const last = lastSyncAt
    ? { en: `${lastSyncAt} (${ageOf(lastSyncAt, now).en} ago)`, ko: lastSyncAt }
    : whyTexts.noSync;
  const unknownTime = whyTexts.timeUnknown;
  const soon = trigger === 'immediate' ? 'soon' : message || unknownTime.en;
  const next = nextSyncAt ? same(nextSyncAt) : { ...unknownTime, en: soon };
  return filled(whyTexts.noDecision, { config, trigger, last, next });
}
