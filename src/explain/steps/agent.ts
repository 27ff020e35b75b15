import type { NicView, NodeView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import type { AgentJob } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import { ofNic } from '../nic-code.ts';
import { isUnsent, type Subject } from '../subject.ts';
import { followed, ofMessage, same, since } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown } from './outcome.ts';

/** Explains whether an agent ran on the node, and the NIC's result. */
export function agent(subject: Subject): Outcome {
  const { facts, node, nic } = subject;
  if (facts.node.state === 'unread') return skipped(facts.node);
  if (!node || !nic || isUnsent(node, nic)) {
    return unknown(whyTexts.notDelivered);
  }
  if (nic.state === 'Configured' || nic.reason === 'WaitingForNIC')
    return worked(subject, node, nic);
  const reason = reasonOf(node, nic);
  return isProgress(reason) ? progress(subject, node, nic) : failed(reason, subject, node, nic);
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
  return fail(reason, evidence, nextFor(reason, { nodeName: node.nodeName, port, nic, job: name }));
}
