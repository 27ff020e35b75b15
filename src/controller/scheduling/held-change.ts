import { isInChangedSubnet, macOf, sharedOf } from '../../api/shared-content.ts';
import type { Node } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import { recordOf } from '../jobs/applied.ts';
import { unreachable } from '../jobs/liveness.ts';
import { prohibitionOf } from '../jobs/permission.ts';
import { type Contents, consentIn, contentHash, nicHash } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { Change } from './admitted-changes.ts';
import { isBudgeted, isNewAdoption, revisionBeforeChange, wantedRevision } from './revision.ts';
import type { Refusal } from './rollout.ts';

/** A change without NICs in changed subnets, which wait: a port is attached without delay. */
export interface PartialChange {
  /** Contents to apply now: waiting NICs are in `keep`. */
  readonly contents: Contents;
  /** Lower-case MACs: configured NICs left unchanged. */
  readonly kept: ReadonlySet<string>;
  /** Recorded revision, valid for these contents. */
  readonly revision: string;
  /** True if the node has these contents already. */
  readonly isApplied: boolean;
  /** Why the NICs wait; undefined: none waits. */
  readonly why: Refusal | undefined;
}

/**
 * Returns the applicable part while the rollout budget refuses changed subnet settings; undefined: the whole content
 * may be applied, or waits.
 */
export type Hold = (
  config: NodeConfig,
  node: Node,
  contents: Contents,
) => PartialChange | undefined;

interface HoldOptions {
  /** Hash of the agent image. */
  readonly image: string;
  /** Notes a refused change, and returns the reason; undefined: the budget has room. */
  readonly refuse: (change: Change) => Refusal | undefined;
}

export function createHold({ image, refuse }: HoldOptions): Hold {
  return (config, node, contents) => {
    const revision = wantedRevision(config, image);
    const recorded = revisionBeforeChange(config, image);
    if (recorded === undefined || recorded === revision) return undefined;
    const content = contentHash(node, contents);
    const run = { action: 'apply', content, machine: machineOf(node) } as const;
    if (!isBudgeted(config, run, revision)) return undefined;
    const part = unaffectedPart(config, contents);
    if (part.kept.size === 0 && !isNewAdoption(config))
      return { ...part, revision: recorded, why: undefined };
    if (prohibitionOf(config, 'apply') || unreachable(node)) return undefined;
    // The open run says nothing about the node: a decision now would differ from the one after its end.
    if (isOpenRun(config, contentHash(node, part.contents))) {
      return { ...part, revision: recorded, why: afterRun };
    }
    const why = refuse({ key: keyOf(config), node, revision });
    return why && { ...part, revision: recorded, why };
  };
}

const afterRun: Refusal = {
  reason: 'RolloutWaiting',
  message: 'rollout: changed subnets follow after the present agent run',
  isStopped: false,
};

/** True if the recorded run is for this content and has no outcome yet. */
function isOpenRun(config: NodeConfig, content: string): boolean {
  const record = recordOf(config);
  return record?.content === content && record.done === undefined && !record.undone;
}

/** Returns the contents without changes to configured NICs in changed subnets, and without new consent to adoption. */
function unaffectedPart(
  config: NodeConfig,
  contents: Contents,
): Pick<PartialChange, 'contents' | 'kept' | 'isApplied'> {
  const { shared = {}, nics = {}, macs = [], done } = recordOf(config) ?? {};
  const entries = config.spec?.interfaces ?? [];
  const now = sharedOf(entries);
  const affected = new Set(
    entries.filter((entry) => isInChangedSubnet(entry, shared, now)).map(macOf),
  );
  const isSame = (nic: Contents['interfaces'][number]): boolean =>
    macs.includes(nic.mac) && nics[nic.mac] === nicHash(nic);
  const waits = contents.interfaces.filter(
    (nic) => affected.has(nic.mac) && macs.includes(nic.mac) && !isSame(nic),
  );
  const kept = new Set(waits.map(({ mac }) => mac));
  const interfaces = contents.interfaces.filter(({ mac }) => !kept.has(mac));
  const keep = [...new Set([...contents.keep, ...kept])].toSorted();
  const listed = new Set([...keep, ...interfaces.map(({ mac }) => mac)]);
  const isApplied =
    done === true && interfaces.every(isSame) && macs.every((mac) => listed.has(mac));
  const consent = isNewAdoption(config) ? {} : consentIn(contents);
  return { contents: { interfaces, keep, ...consent }, kept, isApplied };
}
