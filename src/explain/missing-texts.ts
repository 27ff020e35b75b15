import type { ClusterView } from '../api/read-http.ts';
import type { cloudReasons } from '../api/reasons/cloud.ts';
import { rowOf } from '../api/reasons.ts';
import { doctorTexts } from '../api/texts/doctor.ts';
import { filled, type Wording } from '../api/texts/text.ts';
import type { FactSource, Missing } from './fact.ts';
import { nextFor } from './next-steps.ts';
import type { NextStep } from './step.ts';
import { ofMessage, same } from './wording.ts';

/** Cause: the command has no connection to the cluster. */
export const noAccess = doctorTexts.noAccess;

/** Returns the next step for a business cluster without a context. */
export function addContext(provider: string): Wording {
  const option = `--business-context ${provider}=CONTEXT`;
  return filled(doctorTexts.addOption, { option });
}

/** Next step for an unreachable business cluster. */
export const reachIt: NextStep = nextFor('ViolaPostError', { code: 'ClusterUnreachable' });

type CloudReason = keyof typeof cloudReasons | 'NovaServerError';

/** Services by the reason for an unreadable cloud. */
const cloudServices: Readonly<Record<CloudReason, FactSource>> = {
  ContrabassError: 'Contrabass',
  KeystoneError: 'Keystone',
  NeutronEndpointError: 'Neutron',
  NeutronPortError: 'Neutron',
  NeutronSubnetError: 'Neutron',
  NovaServerError: 'Nova',
};

/** Describes a silent OpenStack service for an OpenstackConfig; empty: the last sync read the cloud. */
export function unreadCloud(
  config: string,
  ready: { readonly reason?: string | undefined; readonly message?: string | undefined },
): readonly Missing[] {
  const { reason = '', message } = ready;
  const found = Object.entries(cloudServices).find(([name]) => name === reason);
  if (found === undefined) return [];
  const [, source] = found;
  const what = filled(doctorTexts.cloudOf, { config });
  const next = rowOf(reason)?.action ?? same('');
  return [{ what, why: ofMessage(reason, message), next, required: { source, place: config } }];
}

/** Describes a business cluster without facts from Viola: Viola is silent, or does not reach the cluster. */
export function unreadViola({
  providerId,
  message,
  reachable,
  isLegacy = false,
}: ClusterView): Missing {
  const why = message === '' ? doctorTexts.violaUnread : same(message);
  const what = filled(doctorTexts.connectionOf, { providerId });
  // A legacy Viola never reports connections.
  if (isLegacy) return { what, why, next: same('') };
  const required = { source: 'Viola', place: providerId } as const;
  if (reachable === false) {
    const cause = message === '' ? '' : ` (${message})`;
    const notReached = filled(doctorTexts.clusterNotReached, { message: cause });
    return { what, why: notReached, next: reachIt.text, required };
  }
  return { what, why, next: doctorTexts.checkViola, required };
}
