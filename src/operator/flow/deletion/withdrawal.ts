import type { WaitingNic } from '../../../api/held-nics.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { isKeptByController, isOf } from '../../../plan/kept-nics.ts';
import type { RemovalApproval, SentRelease } from '../../../plan/plan.ts';
import type { NicsAndNodes } from '../../removals/budgets.ts';
import { coveredNodes, nicsOfDelete } from '../../removals/held-set.ts';
import { countNics } from '../../removals/nics-on.ts';
import { isThere, type NodeRemoval } from './withdraw.ts';

/** A deleted OpenstackConfig's node in a business cluster. */
export interface OwnNode {
  readonly node: ExistingNodeConfig;
  /** Business cluster (k8sProviderID). */
  readonly cluster: string;
}

/** A deleted OpenstackConfig's nodes, sorted by permission. */
export interface Withdrawal {
  /** Nodes covered by the user's consent, also nodes in deletion with kept NICs. */
  readonly consented: readonly OwnNode[];
  /** This OpenstackConfig's further nodes: the guard decides. */
  readonly rest: readonly OwnNode[];
  /** Nodes delivered by an earlier OpenstackConfig with this name; they need consent. */
  readonly blocked: readonly OwnNode[];
  /** Nodes in deletion. */
  readonly leaving: readonly OwnNode[];
  /** Nodes in deletion with kept NICs, not covered by the user's consent. */
  readonly kept: readonly OwnNode[];
}

/** Sorts a deleted OpenstackConfig's nodes. */
export function sortedNodes(
  own: readonly OwnNode[],
  uid: string | undefined,
  approval: RemovalApproval | undefined,
): Withdrawal {
  const digests = approval?.digests ?? '';
  const present = own.filter(({ node }) => isThere(node));
  const leaving = own.filter(({ node }) => !isThere(node));
  const kept = leaving.filter(({ node }) => isKeptByController(node));
  const [mine, others] = [
    present.filter((one) => isOfUid(one, uid)),
    present.filter((one) => !isOfUid(one, uid)),
  ];
  const covered = new Set([
    ...coveredNodes(digests, [...mine, ...kept]),
    ...coveredNodes(digests, others),
  ]);
  const isRest = ({ node }: OwnNode) => !covered.has(node);
  return {
    consented: [...present, ...kept].filter(({ node }) => covered.has(node)),
    rest: mine.filter(isRest),
    blocked: others.filter(isRest),
    leaving,
    kept: kept.filter(isRest),
  };
}

/** True if the node was delivered by this OpenstackConfig, not by a namesake. */
function isOfUid({ node }: OwnNode, uid: string | undefined): boolean {
  return node.source?.uid === uid;
}

/** Node removal with the consent's value; a repeated DELETE sends it as release for kept NICs. */
export interface Withdrawn extends OwnNode, NodeRemoval {
  /** Empty: no consent. */
  readonly value: string;
}

interface Permission {
  readonly approval: RemovalApproval | undefined;
  /** True: deletionPolicy Delete, and nothing holds the deletion. */
  readonly hasPolicy: boolean;
  /** True: the nodes without consent stay. */
  readonly isHeld: boolean;
  readonly uid: string | undefined;
  readonly sent: readonly SentRelease[];
}

/**
 * Returns the nodes to remove. The user's consent is for covered nodes, deletionPolicy Delete for this OpenstackConfig's
 * nodes only; a release for kept NICs is sent once.
 */
export function removalsOf(
  { consented, rest, kept }: Withdrawal,
  { approval, hasPolicy, isHeld, uid, sent }: Permission,
): Withdrawn[] {
  const byUser = consented.map((one) => withConsent(one, approval?.value ?? ''));
  const byPolicy = hasPolicy ? kept.filter((one) => isOfUid(one, uid)) : [];
  const going = isHeld ? [] : rest;
  const named = going.map((one) => ({ ...one, basis: 'named', value: '' }) as const);
  const inAdvance = (hasPolicy ? going : []).map((one) => withConsent(one, policyValue));
  return [
    ...byUser,
    ...(hasPolicy ? inAdvance : named),
    ...byPolicy.map((one) => withConsent(one, policyValue)),
  ].filter((one) => isThere(one.node) || !isSent(one, sent));
}

/** Returns the nodes that deletionPolicy Delete releases. */
export function releasedByPolicy(
  { rest, kept }: Withdrawal,
  uid: string | undefined,
): readonly OwnNode[] {
  return [...rest, ...kept].filter((one) => isOfUid(one, uid));
}

const policyValue = 'deletionPolicy Delete';

function withConsent(one: OwnNode, value: string): Withdrawn {
  return { ...one, basis: 'consent', value };
}

/** True if an equal release was sent for this object version. */
export function isSent({ node, basis, value }: Withdrawn, sent: readonly SentRelease[]): boolean {
  return sent.some((one) => isOf(one, node) && one.basis === basis && one.value === value);
}

/** Returns the release for kept NICs on a node in deletion. */
export function releaseOf({ node, basis, value }: Withdrawn): SentRelease {
  const { uid, generation } = node;
  return { uid, generation, macAddress: '', basis, value };
}

/** Counts NICs, and nodes with NICs. */
export function countOf(nodes: readonly OwnNode[]): NicsAndNodes {
  return countNics(nodes.map(({ node }) => node));
}

/** Returns the NICs removed with these nodes. */
export function nicsOn(nodes: readonly OwnNode[]): WaitingNic[] {
  return nodes.flatMap(({ node, cluster }) => nicsOfDelete(node, cluster));
}
