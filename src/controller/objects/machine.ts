import type { Node } from '../../kube/core-resources.ts';

/** Identity of the machine behind a Node, as far as reported. */
export interface Machine {
  readonly nodeName: string;
  readonly nodeUid: string;
  /** Machine id of the installed OS; changes when the node is rebuilt in place. */
  readonly machineId: string | undefined;
  readonly bootId: string | undefined;
  /** OS name as reported by the kubelet. */
  readonly osImage?: string | undefined;
}

export function machineOf({ metadata, status }: Node): Machine {
  const { machineID, bootID, osImage } = status?.nodeInfo ?? {};
  return {
    nodeName: metadata.name,
    nodeUid: metadata.uid ?? '',
    machineId: idIn(machineID),
    bootId: idIn(bootID),
    osImage,
  };
}

/** A kubelet reports file contents verbatim; an overlong value is no usable id. */
function idIn(text: string | undefined): string | undefined {
  return text && text.length <= 64 ? text : undefined;
}

/** True if the machine may be a different machine. Ids missing at the moment do not count as different. */
export function isOtherMachine(before: Machine, now: Machine): boolean {
  return (
    before.nodeName !== now.nodeName ||
    before.nodeUid !== now.nodeUid ||
    differs(before.machineId, now.machineId)
  );
}

/** True if the machine is certainly different; a new Node object alone may be the same machine. */
export function isReplaced(before: Machine, now: Machine): boolean {
  return before.machineId !== undefined && differs(before.machineId, now.machineId);
}

/** True if the machine may have rebooted. */
export function isOtherBoot(before: Machine, now: Machine): boolean {
  return differs(before.bootId, now.bootId);
}

function differs(before: string | undefined, now: string | undefined): boolean {
  return now !== undefined && now !== before;
}

/** Returns the Node's Ready status, as set by the kubelet or the node controller; undefined: not reported. */
export function isReady(node: Node): boolean | undefined {
  const ready = readyOf(node);
  return ready && ready.status === 'True';
}

/** Returns the transition time of Ready as text; compared for equality only, never with a clock. */
export function readySince(node: Node): string | undefined {
  return idIn(readyOf(node)?.lastTransitionTime ?? undefined);
}

/** Returns the Node's condition Ready; undefined: not reported. */
export function readyOf({ status }: Node) {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** Returns the systemUUID in lower case, as used for comparison. */
export function systemUuidOf({ status }: Node): string | undefined {
  return status?.nodeInfo?.systemUUID?.trim().toLowerCase() || undefined;
}
