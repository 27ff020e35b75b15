import { rfc3339 } from '../../api/condition.ts';
import type { DesiredNode } from '../../api/desired-node.ts';
import { knownNics } from '../../api/known-nics.ts';
import type { MultiNicNodeConfig, NodeConfigSpec } from '../../api/multinicnodeconfig.ts';
import { annotations } from '../../api/names.ts';
import type { PostedNode } from '../../api/node-configs-http.ts';
import {
  type RemovalConsent,
  type RemovalLists,
  removalConsentOf,
} from '../../api/removal-consent.ts';
import { isSameJson } from '../../api/same-json.ts';
import { specHash } from '../../api/spec-hash.ts';
import { toExistingNodeConfig } from '../node-configs/existing-node-config.ts';

/** Age (5 min) up to which an equal consent counts as present; older consents are renewed. */
const renewAfterMs = 300_000;

/**
 * Returns the node with the posted consent to removals, for the live object's uid and the posted spec. Without `base`
 * there is no consent. A POST without consent leaves the consent to an unchanged spec in place.
 */
export function withRemovalConsent(
  node: DesiredNode,
  posted: PostedNode,
  live: MultiNicNodeConfig | undefined,
  now: Date,
): DesiredNode {
  if (!live || !posted.base) return node;
  const consent = consentOf(node, posted, live, now);
  if (consent === undefined) return node;
  const added = { [annotations.removalConsent]: consent };
  return { ...node, annotations: { ...node.annotations, ...added } };
}

function consentOf(
  node: DesiredNode,
  posted: PostedNode,
  live: MultiNicNodeConfig,
  now: Date,
): string | undefined {
  const { uid = '', annotations: noted } = live.metadata;
  const { specHash: spec = '' } = node.spec;
  const lists = listsOf(node, posted, live);
  const isEmpty = lists.proven.length + lists.consented.length === 0;
  const current = removalConsentOf(live.metadata, spec);
  if (current && (isEmpty || isRecent(current, lists, now))) {
    return noted?.[annotations.removalConsent];
  }
  return isEmpty ? undefined : consentText({ uid, spec, at: rfc3339(now), ...lists });
}

/** Returns the annotation's text; equal consents have equal texts. */
export function consentText({ uid, spec, at, proven, consented }: RemovalConsent): string {
  return JSON.stringify({ uid, spec, at, proven, consented } satisfies RemovalConsent);
}

/** Returns the MACs of all NICs in an object's spec and of the NICs that its agent reported. */
export function macsOf(live: MultiNicNodeConfig): string[] {
  const read = toExistingNodeConfig(live);
  const status = read.kind === 'readable' ? read.node.status : undefined;
  const known = knownNics(live.metadata, status);
  return unique([
    ...macsIn(specOf(live).interfaces),
    ...(known.kind === 'read' ? known.nics.map(({ mac }) => mac) : []),
  ]);
}

/** Returns the MACs of all NICs in an object's spec. */
export function listedMacs(live: MultiNicNodeConfig): string[] {
  return unique(macsIn(specOf(live).interfaces));
}

/** Returns the hash of an object's spec as the controller computes it; an object by other writers stores none. */
export function hashOf(live: MultiNicNodeConfig): string {
  const { nodeName, interfaces, instanceId } = specOf(live);
  return specHash({ nodeName: nodeName || live.metadata.name, interfaces, instanceId });
}

/** Returns the spec; an earlier, looser schema admitted objects without one. */
function specOf({ spec }: { readonly spec?: Partial<NodeConfigSpec> }): Partial<NodeConfigSpec> {
  return spec ?? {};
}

function listsOf(
  node: DesiredNode,
  { removals, removalsAllowed = false }: PostedNode,
  live: MultiNicNodeConfig,
): RemovalLists {
  const listed = new Set(macsIn(node.spec.interfaces));
  const leaving = (macs: readonly string[]) => unique(macs.filter((mac) => !listed.has(mac)));
  if (removals) {
    return { proven: leaving(removals.proven), consented: leaving(removals.consented) };
  }
  // An earlier operator consents to whatever its POST removes.
  return { proven: [], consented: removalsAllowed ? leaving(macsOf(live)) : [] };
}

function isRecent({ at, proven, consented }: RemovalConsent, lists: RemovalLists, now: Date) {
  const ageMs = Math.abs(now.getTime() - Date.parse(at));
  return ageMs < renewAfterMs && isSameJson({ proven, consented }, lists);
}

/** The schema's limits: a longer list or text would make the whole consent unreadable. */
const [maxMacs, maxMac] = [64, 17];

function unique(macs: readonly string[]): string[] {
  const usable = macs.filter((mac) => mac.length <= maxMac);
  return [...new Set(usable)].toSorted().slice(0, maxMacs);
}

/** Returns readable MACs in lower case: an earlier, looser schema admitted any content. */
function macsIn(interfaces: unknown): string[] {
  if (!Array.isArray(interfaces)) return [];
  return interfaces.flatMap((entry: { readonly macAddress?: unknown } | null) => {
    const mac = entry?.macAddress;
    return typeof mac === 'string' ? [mac.trim().toLowerCase()] : [];
  });
}
