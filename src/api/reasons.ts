import { accessReasons } from './reasons/access.ts';
import { deliveryReasons } from './reasons/delivery.ts';
import { explainReasons } from './reasons/explain.ts';
import { multiNicBizConfigReasons } from './reasons/multinicbizconfig.ts';
import { multiNicOperatorReasons } from './reasons/multinicoperator.ts';
import { nicReasons } from './reasons/nic.ts';
import { nodeReasons } from './reasons/node.ts';
import { openstackConfigReasons } from './reasons/openstackconfig.ts';
import { partReasons } from './reasons/part.ts';
import { preflightReasons } from './reasons/preflight.ts';
import { protectionReasons } from './reasons/protection.ts';
import type { Blocked, ReasonAlert, ReasonColumns, ReasonRow } from './reasons/reason-row.ts';

/** The only reasons table; status, events, logs and docs use only these reasons. */
export const reasons = {
  ...nicReasons,
  ...nodeReasons,
  ...openstackConfigReasons,
  ...multiNicBizConfigReasons,
  ...multiNicOperatorReasons,
  ...accessReasons,
  ...deliveryReasons,
  ...partReasons,
  ...protectionReasons,
  ...explainReasons,
  ...preflightReasons,
} as const;

export type Reason = keyof typeof reasons;
/** `RemovalHeld` and `Paused` apply to both kinds with the same meaning. */
export type NodeReason = keyof typeof nodeReasons | 'RemovalHeld' | 'Paused';
/** `SubnetOverlapsCluster` has the same meaning as in an agent's result, `Observed` the same as for a node. */
export type OperatorReason =
  | keyof typeof openstackConfigReasons
  | 'SubnetOverlapsCluster'
  | 'Observed';
export type PartReason = keyof typeof partReasons;
/** Reason for a port without NIC, or for an anomaly about a port's NIC. */
export type PortReason = {
  [Name in Reason]: (typeof reasons)[Name] extends Pick<Required<ReasonColumns>, 'step'>
    ? Name
    : never;
}[Reason];

const rows: Readonly<Record<string, ReasonRow>> = reasons;

/** Returns a reason's row; undefined: unknown reason from a newer part. */
export function rowOf(reason: string): ReasonRow | undefined {
  return Object.hasOwn(rows, reason) ? rows[reason] : undefined;
}

/** True if an OpenstackConfig lacks this sync part while Ready has the reason. */
export function blocks(reason: string, part: Blocked): boolean {
  return rowOf(reason)?.blocks?.includes(part) === true;
}

/** Returns an alert's reasons in alphabetical order. */
export function reasonsOf(alert: ReasonAlert): readonly string[] {
  const found = Object.entries(rows).filter(([, { alerts }]) => alerts?.includes(alert));
  return found.map(([name]) => name).toSorted();
}
