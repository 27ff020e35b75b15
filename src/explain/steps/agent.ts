import type { NicView, NodeView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { adoptStep } from '../adoption.ts';
import type { AgentJob } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import { ofNic } from '../nic-code.ts';
import { fileBehind, isObstacle, isRefused, releaseStep } from '../obstacles.ts';
import type { NextStep } from '../step.ts';
import { isUnsent, nodeKey, type Subject } from '../subject.ts';
import { followed, ofMessage, same, since } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown, warn } from './outcome.ts';

/** Explains whether an agent ran on the node, and the NIC's result. */
export function agent(subject: Subject): Outcome {
  const { facts, node, nic } = subject;
  if (facts.node.state === 'unread') return skipped(facts.node);
  if (!node || !nic || isUnsent(node, nic)) {
    return unknown(whyTexts.notDelivered);
  }
  if (nic.state === 'Observed') return observed(subject, node, nic);
  if (nic.state === 'Configured' || nic.reason === 'WaitingForNIC')
    return worked(subject, node, nic);
  const reason = reasonOf(node, nic);
  return isProgress(reason) ? progress(subject, node, nic) : failed(reason, subject, node, nic);
}

/** Explains an observed NIC: neither failed nor configured. */
function observed({ facts, port }: Subject, node: NodeView, nic: NicView): Outcome {
  const at = since(nic.checkedAt, facts.now, whyTexts.checked);
  if (isRefused(nic)) {
    const { reason } = nic;
    const evidence = filled(whyTexts.wouldBeRefused, { text: ofNic(reason, nic), at });
    return warn(reason, evidence, nextForNic(reason, { node, nic, port }));
  }
  const evidence = filled(whyTexts.wouldBeApplied, { text: nic.message || node.message, at });
  return warn('Observed', evidence, nextFor('Observed', { config: node.config, nic }));
}

interface AboutNic {
  readonly node: NodeView;
  readonly nic: NicView;
  readonly port: Subject['port'];
  /** Latest agent Job; absent: unknown. */
  readonly job?: string | undefined;
}

/** Returns the consent to adoption, the change to the configuring file, otherwise the reason's next step. */
function nextForNic(reason: string, { node, nic, port, job }: AboutNic): NextStep {
  const adopt = isObstacle(reason) ? adoptStep([{ node, nic }]) : undefined;
  if (adopt) return adopt;
  const file = fileBehind(reason, nic);
  if (file) return releaseStep(file, nodeKey(node));
  return nextFor(reason, { nodeName: node.nodeName, port, nic, job });
}

function worked({ facts }: Subject, { agentVersion, object }: NodeView, nic: NicView): Outcome {
  const at = since(nic.checkedAt, facts.now, whyTexts.checked);
  const run = runOf(object, undefined);
  const by = run.en === '' ? run : followed(same(': '), run);
  const version = agentVersion ? filled(whyTexts.agentVersion, { agentVersion }) : whyTexts.anAgent;
  return ok(filled(whyTexts.agentRan, { version, by, at }));
}

/** Names the Job and the attempt: "Job multinic-agent-w1-3c9a (attempt 4)". Empty: unknown. */
function runOf(object: NodeView['object'], job: AgentJob | undefined): Wording {
  const name = job?.name ?? object?.lastJobName;
  const attempt = job?.attempt ?? object?.attempt;
  if (!name) return same('');
  if (attempt === undefined) return filled(whyTexts.job, { name });
  return filled(whyTexts.jobAttempt, { name, attempt });
}

/** The node's reason counts while no agent has reported about the NIC: the NIC's reason may be older. */
function reasonOf({ ready, reason }: NodeView, nic: NicView): string {
  const ofNode = rowOf(reason)?.scope === 'node' && ready !== 'True';
  const isOpen = nic.state !== 'Failed';
  return (ofNode && isOpen ? reason : undefined) ?? (nic.reason || reason || 'SpecChanged');
}

function isProgress(reason: string): boolean {
  return reason === 'SpecChanged' || reason === 'JobScheduled';
}

/** Explains an unfinished run: only the Job shows the cause. */
function progress({ facts }: Subject, node: NodeView, nic: NicView): Outcome {
  if (facts.job.state === 'unread') return skipped(facts.job);
  const job = facts.job.value;
  const about = { nodeName: node.nodeName, nic, job: job?.name };
  const run = runOf(node.object, job);
  if (job?.reason) {
    const reason = podReasons[job.reason] ?? 'NotStarted';
    const why = job.message ? `${job.reason}: ${job.message}` : job.reason;
    return fail(reason, followed(run, same(`: ${why}`)), nextFor(reason, about));
  }
  const evidence = job
    ? filled(whyTexts.atWork, { run, nodeName: node.nodeName })
    : filled(whyTexts.noJob, { nodeName: node.nodeName });
  return fail('SpecChanged', evidence, {
    text: whyTexts.waitForAgent,
    commands: [],
    preview: [],
  });
}

/** Reasons by the words from kubelet and scheduler. */
const podReasons: Readonly<Record<string, string>> = {
  ErrImagePull: 'ImagePullFailed',
  ImagePullBackOff: 'ImagePullFailed',
  InvalidImageName: 'ImagePullFailed',
  ErrImageNeverPull: 'ImagePullFailed',
  Unschedulable: 'Unschedulable',
  OOMKilled: 'OutOfMemory',
  Evicted: 'Evicted',
  DeadlineExceeded: 'DeadlineExceeded',
};

/** Reasons unrelated to the latest Job. */
const withoutJob: ReadonlySet<string> = new Set([
  'JobRefused',
  'RolloutStopped',
  'RolloutWaiting',
  'WaitingForTurn',
]);

function failed(reason: string, { facts, port }: Subject, node: NodeView, nic: NicView): Outcome {
  const job = facts.job.state === 'read' ? facts.job.value : undefined;
  const run = withoutJob.has(reason) ? same('') : runOf(node.object, job);
  const text = nic.reason === reason ? ofNic(reason, nic) : ofMessage(reason, node.message);
  const evidence = run.en === '' ? text : followed(run, same(': '), text);
  const name = job?.name ?? node.object?.lastJobName;
  return fail(reason, evidence, nextForNic(reason, { node, nic, port, job: name }));
}
