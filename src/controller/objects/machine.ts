import type { Node } from '../../kube/core-resources.ts';

/** Which machine a Node stands for, as far as it says so. */
export interface Machine {
  readonly nodeName: string;
  readonly nodeUid: string;
  /** Of the installed system: another one after the node was rebuilt in place. */
  readonly machineId: string | undefined;
  readonly bootId: string | undefined;
  /** The operating system, in its own words. */
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

/** A kubelet reports what it finds in a file; what is longer than any id tells nobody apart. */
function idIn(text: string | undefined): string | undefined {
  return text && text.length <= 64 ? text : undefined;
}

/** Whether it may be another machine than before. A Node that says less for a while is no other. */
export function isOtherMachine(before: Machine, now: Machine): boolean {
  return (
    before.nodeName !== now.nodeName ||
    before.nodeUid !== now.nodeUid ||
    differs(before.machineId, now.machineId)
  );
}

/** Whether it is another machine for certain; a Node object alone may be made again for the same one. */
export function isReplaced(before: Machine, now: Machine): boolean {
  return before.machineId !== undefined && differs(before.machineId, now.machineId);
}

/** Whether the machine may have been started anew since. */
export function isOtherBoot(before: Machine, now: Machine): boolean {
  return differs(before.bootId, now.bootId);
}

function differs(before: string | undefined, now: string | undefined): boolean {
  return now !== undefined && now !== before;
}

/** What its kubelet, or the node controller in its place, says of the node; undefined when nobody says anything. */
export function isReady({ status }: Node): boolean | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready && ready.status === 'True';
}

/** Since when it is so, in the words of whoever says it: told apart from other times, and never compared with a clock. */
export function readySince({ status }: Node): string | undefined {
  return idIn(
    status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? undefined,
  );
}

/** systemUUID as it is compared. */
export function systemUuidOf({ status }: Node): string | undefined {
  return status?.nodeInfo?.systemUUID?.trim().toLowerCase() || undefined;
}
