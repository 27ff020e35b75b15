import { isAdoption } from '../../api/shared-content.ts';
import type { Node } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import { lastRecordOf, recordOf } from '../jobs/applied.ts';
import { unreachable } from '../jobs/liveness.ts';
import { prohibitionOf } from '../jobs/permission.ts';
import { type Contents, consentIn, contentHash, nicHash } from '../jobs/request.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { Change } from './admitted-changes.ts';
import { nodeChangeOf, type SettingChange } from './node-change.ts';
import { joinedRefusal, type Refusal } from './rollout.ts';

/** A change without NICs whose settings wait: a port is attached without delay. */
export interface PartialChange {
  /** Contents to apply now: waiting NICs are in `keep`. */
  readonly contents: Contents;
  /** Lower-case MACs: configured NICs left unchanged. */
  readonly kept: ReadonlySet<string>;
  /** True if the contents need no run: the node has them, or waits as a whole. */
  readonly isApplied: boolean;
  /** Why the NICs wait. */
  readonly why: Refusal;
}

/**
 * Returns the applicable part while the rollout budget refuses changed settings; undefined: it refuses none, or the
 * whole content waits.
 */
export type Hold = (
  config: NodeConfig,
  node: Node,
  contents: Contents,
) => PartialChange | undefined;

/** Reasons by revision that must wait. */
export type Refusals = ReadonlyMap<string, Refusal>;

interface HoldOptions {
  /** Hash of the agent image. */
  readonly image: string;
  /** Notes the refused revisions of a change. */
  readonly refuse: (change: Change) => Refusals;
  /** Returns the refused revisions of a change. */
  readonly refusalsOf: (change: Change) => Refusals;
}

export function createHold({ image, refuse, refusalsOf }: HoldOptions): Hold {
  return (config, node, contents) => {
    const { settings } = nodeChangeOf(config, image, node, contents);
    if (settings.length === 0) return undefined;
    if (prohibitionOf(config, 'apply') || unreachable(node)) return undefined;
    const change = { key: keyOf(config), node, revisions: settings };
    const least = partWithout(settings, config, contents);
    // The open run says nothing about the node: a decision now would differ from the one after its end.
    if (isOpenRun(config, contentHash(node, least.contents))) {
      const stops = [...refusalsOf(change).values()].filter(({ isStopped }) => isStopped);
      return { ...least, why: stops.length > 0 ? joinedRefusal(stops) : afterRun };
    }
    const refusals = refuse(change);
    if (refusals.size === 0) return undefined;
    const refused = settings.filter(({ revision }) => refusals.has(revision));
    const why = joinedRefusal([...refusals.values()]);
    return { ...partWithout(refused, config, contents), why };
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

/**
 * Returns the contents without changes to NICs with these settings. A refused consent to adoption keeps no NIC. A node
 * with checks alone waits as a whole: without the consent, the agent would refuse the NICs.
 */
function partWithout(
  refused: readonly SettingChange[],
  config: NodeConfig,
  contents: Contents,
): Omit<PartialChange, 'why'> {
  const { nics = {}, macs = [], done } = recordOf(config) ?? {};
  const changed = refused.filter(({ key }) => !isAdoption(key));
  const consent = changed.length < refused.length ? {} : consentIn(contents);
  const kept = new Set(changed.flatMap((setting) => setting.macs));
  const interfaces = contents.interfaces.filter(({ mac }) => !kept.has(mac));
  const keep = [...new Set([...contents.keep, ...kept])].toSorted();
  const listed = new Set([...keep, ...interfaces.map(({ mac }) => mac)]);
  const isSame = (nic: Contents['interfaces'][number]): boolean =>
    macs.includes(nic.mac) && nics[nic.mac] === nicHash(nic);
  const isRecorded =
    done === true && interfaces.every(isSame) && macs.every((mac) => listed.has(mac));
  const isOnlyChecked = lastRecordOf(config)?.action === 'check';
  return {
    contents: { interfaces, keep, ...consent },
    kept,
    isApplied: isRecorded || isOnlyChecked,
  };
}
