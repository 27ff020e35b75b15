import type { OperatorReason } from '../../api/reasons.ts';
import { isRequestError } from '../../requests/request-error.ts';
import type { StepFailure, Trouble } from './step-failure.ts';

/** How a look at an OpenstackConfig ended. */
export type Verdict =
  | {
      readonly kind: 'synced';
      /** Nodes that were posted or deleted. */
      readonly sent: number;
      /** What could not be delivered, in the order of the steps; everything else was. */
      readonly troubles: readonly Trouble[];
      /** Nodes that wait for something, with what it is. */
      readonly waiting: readonly string[];
    }
  /** A step failed and the rest was not tried. */
  | { readonly kind: 'failed'; readonly failure: StepFailure }
  /** Fields that cannot be used. */
  | { readonly kind: 'refused'; readonly troubles: readonly Trouble[] }
  | {
      readonly kind: 'deleting';
      readonly troubles: readonly Trouble[];
      readonly waiting: readonly string[];
    };

/** What is wrong, the first step first. */
export function troublesOf(verdict: Verdict): readonly Trouble[] {
  if (verdict.kind === 'failed') return [verdict.failure];
  return verdict.troubles;
}

/** The step that a reason belongs to. */
export type Step = 'config' | 'credentials' | 'listing' | 'delivery';

const steps: Partial<Record<OperatorReason, Step>> = {
  ConfigError: 'config',
  PolicyDenied: 'config',
  SubnetRequired: 'config',
  ContrabassError: 'credentials',
  KeystoneError: 'credentials',
  NeutronEndpointError: 'listing',
  NeutronPortError: 'listing',
  NeutronSubnetError: 'listing',
  SubnetNotFound: 'listing',
  SubnetNotUnique: 'listing',
  NovaServerError: 'listing',
  ServerNotFound: 'listing',
};
const order: readonly Step[] = ['config', 'credentials', 'listing', 'delivery'];

export function stepOf(reason: OperatorReason): Step {
  return steps[reason] ?? 'delivery';
}

/** How far a step came: `Unknown` when an earlier one ended the sync. */
export function stateOf(verdict: Verdict, step: Step): 'True' | 'False' | 'Unknown' {
  if (verdict.kind === 'refused') return 'Unknown';
  if (verdict.kind !== 'failed') {
    return verdict.troubles.some(({ reason }) => stepOf(reason) === step) ? 'False' : 'True';
  }
  const { reason, cause } = verdict.failure;
  const failed = stepOf(reason);
  if (failed !== step) return order.indexOf(step) < order.indexOf(failed) ? 'True' : 'Unknown';
  // A service that does not answer says nothing about the credentials.
  const refused = isRequestError(cause, 'unauthorized', 'forbidden', 'badCredential');
  return step === 'credentials' && !refused ? 'Unknown' : 'False';
}
