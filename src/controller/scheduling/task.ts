import type { JobAction } from '../../api/job.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import { familyFor, lastRecordOf } from '../jobs/applied.ts';
import { withAgentAge, withMissingNics } from '../jobs/evidence.ts';
import { nodeEventsOf } from '../jobs/node-events.ts';
import type { Contents } from '../jobs/request.ts';
import type { AllowedRemoval } from '../jobs/run-basis.ts';
import type { AgentTask, Failure, Run, Runner } from '../jobs/runner.ts';
import { systemUuidOf } from '../objects/machine.ts';
import { refOfConfig } from '../objects/stores.ts';
import type { Report } from '../status/report.ts';
import type { PartialChange } from './held-change.ts';
import type { Refusal } from './rollout.ts';

/** Work for an agent: action and contents for one node and one object. */
export interface Task {
  readonly report: Report;
  readonly node: Node;
  readonly action: JobAction;
  readonly contents: Contents;
  /** Removals that the run may make, as the gate decided; undefined: none. */
  readonly removals?: readonly AllowedRemoval[];
  /** Part applied during a rollout; undefined: the contents are the object's. */
  readonly held?: PartialChange | undefined;
}

export interface Progress extends Outcome {
  readonly done: boolean;
}

/**
 * Returns the object's runs. Runs with the current content also get failures for requested NICs missing in the result,
 * and for NICs whose adoption needs a newer agent.
 */
export function runsOf(
  runner: Pick<Runner, 'runsFor'>,
  { report: { config }, contents }: Task,
  content: string,
): readonly Run[] {
  return runner
    .runsFor(refOfConfig(config))
    .filter(({ uid }) => uid === config.metadata.uid)
    .map((run) =>
      run.content === content
        ? withMissingNics(withAgentAge(run, contents.existingConfiguration), contents.interfaces)
        : run,
    );
}

export function agentTaskFor(
  { report: { config }, node }: Task,
  rest: Pick<AgentTask, 'action' | 'attempt' | 'generation' | 'content' | 'machine'>,
): AgentTask {
  return {
    ...rest,
    uid: config.metadata.uid ?? '',
    occasion: nodeEventsOf(config, node),
    family: familyFor(rest.machine, lastRecordOf(config)),
    node: node.metadata.name,
    instance: systemUuidOf(node) ?? '',
    config: refOfConfig(config),
  };
}

/** Reports why the task's run must wait. `repeat`: the status from an earlier attempt stays valid. */
export function waiting(report: Report, why: Failure | Refusal, repeat = false): Progress {
  report.tell({ kind: 'waiting', ...why, repeat });
  return { done: false };
}
