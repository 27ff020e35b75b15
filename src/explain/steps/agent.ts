import type { NicView, NodeView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import type { Wording } from '../../api/texts/text.ts';
import type { AgentJob } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import { ofNic } from '../nic-code.ts';
import { isUnsent, type Subject } from '../subject.ts';
import { ofMessage, say, since } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown } from './outcome.ts';

/** Explains whether an agent ran on the node, and the NIC's result. */
export function agent(subject: Subject): Outcome {
  const { facts, node, nic } = subject;
  if (facts.node.state === 'unread') return skipped(facts.node);
  if (!node || !nic || isUnsent(node, nic)) {
    return unknown('the NIC is not delivered', 'NIC가 전달되지 않았습니다');
  }
  if (nic.state === 'Configured' || nic.reason === 'WaitingForNIC')
    return worked(subject, node, nic);
  const reason = reasonOf(node, nic);
  return isProgress(reason) ? progress(subject, node, nic) : failed(reason, subject, node, nic);
}

function worked({ facts }: Subject, { agentVersion, object }: NodeView, nic: NicView): Outcome {
  const at = since(nic.checkedAt, facts.now, ['checked', '확인']);
  const run = runOf(object, undefined);
  const version = agentVersion ? `agent ${agentVersion}` : 'the agent';
  return ok(
    say(
      `${version} has run${run.en === '' ? '' : `: ${run.en}`}${at.en}`,
      `에이전트${agentVersion ? ` ${agentVersion}` : ''}가 실행되었습니다${run.ko === '' ? '' : `: ${run.ko}`}${at.ko}`,
    ),
  );
}

/** Names the Job and the attempt: "Job multinic-agent-w1-3c9a (attempt 4)". Empty: unknown. */
function runOf(object: NodeView['object'], job: AgentJob | undefined): Wording {
  const name = job?.name ?? object?.lastJobName;
  const attempt = job?.attempt ?? object?.attempt;
  if (!name) return say('', '');
  if (attempt === undefined) return say(`Job ${name}`, `Job ${name}`);
  return say(`Job ${name} (attempt ${attempt})`, `Job ${name}(${attempt}번째 시도)`);
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
    return fail(reason, say(`${run.en}: ${why}`, `${run.ko}: ${why}`), nextFor(reason, about));
  }
  const evidence = job
    ? say(
        `${run.en} is at work on node ${node.nodeName}`,
        `${run.ko}가 노드 ${node.nodeName}에서 실행 중입니다`,
      )
    : say(
        `no agent Job exists for node ${node.nodeName} yet`,
        `노드 ${node.nodeName}의 에이전트 Job이 아직 없습니다`,
      );
  return fail('SpecChanged', evidence, {
    text: say('wait for the agent to end', '에이전트가 끝날 때까지 기다려 주십시오'),
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
  const run = withoutJob.has(reason) ? say('', '') : runOf(node.object, job);
  const { en, ko } = nic.reason === reason ? ofNic(reason, nic) : ofMessage(reason, node.message);
  const evidence = run.en === '' ? say(en, ko) : say(`${run.en}: ${en}`, `${run.ko}: ${ko}`);
  const name = job?.name ?? node.object?.lastJobName;
  return fail(reason, evidence, nextFor(reason, { nodeName: node.nodeName, port, nic, job: name }));
}
