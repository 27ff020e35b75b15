import { hash } from 'node:crypto';
import { protocol } from '../../api/job.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import type { Node } from '../../kube/core-resources.ts';
import { type Applied, lastRecordOf, recordOf } from '../jobs/applied.ts';
import { permissionOf } from '../jobs/permission.ts';
import { type Contents, contentHash } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { Task } from '../scheduling/task.ts';

type Compared = Pick<Task, 'node' | 'contents'>;

/** Contents for comparison with the node, and the record with the last check. */
export interface CheckBasis {
  /** The record with the last check. */
  readonly applied: Applied;
  /** Identity of the compared contents. */
  readonly content: string;
  /** True in mode Observe: the contents are the spec, applied or not. */
  readonly isObserved: boolean;
  /** True if the last check compared different contents, or none has run in mode Observe. */
  readonly isNew: boolean;
}

/** Returns the basis for the next check; undefined: no check may run, or the contents are not applied. */
export function checkBasisOf(task: Pick<Task, 'report'> & Compared) {
  const { config } = task.report;
  const { kind } = permissionOf(config);
  if (kind === 'nothing') return undefined;
  return kind === 'checks' ? observedBasis(config, task) : appliedBasis(config, task);
}

function appliedBasis(config: NodeConfig, compared: Compared): CheckBasis | undefined {
  const applied = recordOf(config);
  if (!applied?.done) return undefined;
  const isNew = comparedOthers(applied, compared);
  return { applied, content: applied.content, isObserved: false, isNew };
}

/** True if the last check ran in mode Observe with different contents, and says nothing about these contents. */
export function comparedOthers({ checkedContent }: Applied, { node, contents }: Compared): boolean {
  return checkedContent !== undefined && checkedContent !== observedContent(node, contents);
}

/** The record from an agent run stays in mode Observe. */
function observedBasis(config: NodeConfig, { node, contents }: Compared): CheckBasis {
  const content = observedContent(node, contents);
  const last = lastRecordOf(config);
  const applied =
    last && last.action !== 'check' ? last : { ...unchecked(config, node, contents), ...last };
  const { checkedContent, foundFamily, family } = applied;
  return {
    applied,
    // A host with another network manager needs a Job with other files.
    content: [content, ...(foundFamily && foundFamily !== family ? [foundFamily] : [])].join(' '),
    isObserved: true,
    isNew: checkedContent !== content,
  };
}

/** Hash over the machine and the contents: a check on a replaced machine, or before an edit, says nothing. */
export function observedContent(node: Node, contents: Contents): string {
  const { nodeUid, machineId } = machineOf(node);
  const content = contentHash(node, contents);
  return hash('sha256', canonicalJson({ content, nodeUid, machineId })).slice(0, 32);
}

/** Returns the record before the first check of an object. */
function unchecked(
  { metadata: { uid = '', creationTimestamp } }: NodeConfig,
  node: Node,
  contents: Contents,
): Applied {
  const { nodeName, nodeUid } = machineOf(node);
  return {
    objectUid: uid,
    action: 'check',
    content: contentHash(node, contents),
    nodeName,
    nodeUid,
    job: 'none',
    attempt: 0,
    protocol,
    // Fixed: the time is part of the check's identity.
    at: creationTimestamp ?? '1970-01-01T00:00:00Z',
    macs: [],
    requested: [],
  };
}
