import type { Node } from '../../kube/core-resources.ts';
import type { Failure } from '../jobs/runner.ts';
import { readyIn } from '../status/ready.ts';
import type { Report } from '../status/report.ts';
import { isRepeat, type RunPhase } from '../status/run-phase.ts';

/** Wraps the report for work on the former node: the status says "the former node is cleaned first". */
export function reportFormerNode(report: Report, { metadata }: Node): Report {
  const first = `NICs are removed from the former node ${metadata.name} first`;
  return {
    ...report,
    get config() {
      return report.config;
    },
    tell(situation, applied) {
      // Keep the outcome already in the status.
      if (situation.kind === 'recorded') return;
      const why = obstacleIn(situation);
      const reason = why?.reason ?? 'WaitingForTurn';
      const message = why ? `${first}: ${why.message}` : first;
      const outcome = situation.kind === 'ended' ? situation.verdict : undefined;
      const repeat = isRepeat(situation);
      report.tell({ kind: 'waiting', reason, message, repeat, outcome }, applied);
    },
  };
}

/** Returns why the run is blocked or failed; undefined while the run makes progress. */
function obstacleIn(situation: RunPhase): Failure | undefined {
  if (situation.kind === 'waiting') return situation;
  if (situation.kind === 'working') return situation.run.trouble;
  if (situation.kind !== 'ended') return undefined;
  if (situation.verdict.kind === 'failure') return situation.verdict;
  const { status, message } = readyIn(situation, []);
  return status === 'False' ? { reason: 'JobFailed', message } : undefined;
}
