import { accessReasons } from './reasons/access.ts';
import { explainReasons } from './reasons/explain.ts';
import { multiNicBizConfigReasons } from './reasons/multinicbizconfig.ts';
import { multiNicOperatorReasons } from './reasons/multinicoperator.ts';
import { nicReasons } from './reasons/nic.ts';
import { nodeReasons } from './reasons/node.ts';
import { openstackConfigReasons } from './reasons/openstackconfig.ts';
import { partReasons } from './reasons/part.ts';
import { protectionReasons } from './reasons/protection.ts';

/** The only reasons table; status, events, logs and docs use only these reasons. */
export const reasons = {
  ...nicReasons,
  ...nodeReasons,
  ...openstackConfigReasons,
  ...multiNicBizConfigReasons,
  ...multiNicOperatorReasons,
  ...accessReasons,
  ...partReasons,
  ...protectionReasons,
  ...explainReasons,
} as const;

export type Reason = keyof typeof reasons;
/** `RemovalHeld` and `Paused` apply to both kinds with the same meaning. */
export type NodeReason = keyof typeof nodeReasons | 'RemovalHeld' | 'Paused';
/** `SubnetOverlapsCluster` has the same meaning as in an agent's result. */
export type OperatorReason = keyof typeof openstackConfigReasons | 'SubnetOverlapsCluster';
export type MultiNicOperatorReason = keyof typeof multiNicOperatorReasons;
export type PartReason = keyof typeof partReasons;
