import { findCondition } from '../../api/condition.ts';
import type { BlockedNic, PlanView } from '../../api/read-http.ts';
import { holdCodeOf } from '../../api/removals.ts';
import { multinic } from '../../explain/commands.ts';
import type { ConfigObject } from '../../session/facts/kinds.ts';
import { readNodes } from '../../session/facts/operator-facts.ts';
import { required } from '../../session/facts/required.ts';
import { planOf } from '../plan/request.ts';
import { Refusal } from '../refusal.ts';
import type { Run } from '../run-command.ts';
import { keyOf } from '../sync/config-requests.ts';

/** An OpenstackConfig's removals without consent. */
export interface Hold {
  /** `namespace/name`. */
  readonly config: string;
  /** Message of the Ready condition; empty: no sync has reported the hold yet. */
  readonly message: string;
  /** Held NICs' number; undefined: only in the message, as for a former business cluster. */
  readonly nics: number | undefined;
  /** Nodes with held NICs, as far as the operator names them. */
  readonly nodes: HeldNode[];
  readonly budgets: NonNullable<PlanView['budgets']>;
}

interface HeldNode extends Pick<PlanView['nodes'][number], 'nodeName' | 'instanceId'> {
  readonly heldNics: BlockedNic[];
}

/** Returns the removals that wait; undefined: none. Throws a refusal if no sync has handled the last edit. */
export async function readHold(run: Run, config: ConfigObject): Promise<Hold | undefined> {
  const message = heldMessage(config);
  if (config.metadata.deletionTimestamp !== undefined) {
    return message === undefined ? undefined : holdOfDeletion(run, config, message);
  }
  refuseUnsynced(config);
  const plan = await planOf(run, config, {});
  if (plan.heldRemovals === 0 && message === undefined) return holdOfNodes(run, config);
  const nodes = plan.nodes.flatMap(({ nodeName, instanceId, heldNics = [] }) =>
    heldNics.length > 0 ? [{ nodeName, instanceId, heldNics }] : [],
  );
  const { budgets = [], heldRemovals } = plan;
  const nics = heldRemovals === 0 ? undefined : heldRemovals;
  return { config: keyOf(config), message: message ?? '', nics, nodes, budgets };
}

/** Returns the message about held removals; undefined: the status reports none for this generation. */
function heldMessage({ metadata, status }: ConfigObject): string | undefined {
  const isCurrent = status?.observedGeneration === metadata.generation;
  const held = ['Ready', 'Delivered']
    .map((type) => findCondition(status?.conditions, type))
    .find((condition) => condition?.reason === 'RemovalHeld');
  return isCurrent ? held?.message : undefined;
}

/** The operator ignores a consent before the generation's first sync. */
function refuseUnsynced(config: ConfigObject): void {
  const { generation } = config.metadata;
  if (config.status?.observedGeneration === generation) return;
  throw new Refusal(
    `no sync has handled generation ${generation} of OpenstackConfig ${keyOf(config)} yet, and an earlier consent does not count`,
    multinic('sync', keyOf(config)),
  );
}

/** Returns the hold by controllers of an earlier version, which name no NIC; undefined: none. */
async function holdOfNodes(run: Run, config: ConfigObject): Promise<Hold | undefined> {
  const key = keyOf(config);
  const nodes = required(await readNodes(run.session, { config: key, reason: 'RemovalHeld' }));
  if (nodes.length === 0) return undefined;
  const message = nodes.map(({ nodeName, message: why }) => `${nodeName}: ${why}`).join('; ');
  return { config: key, message, nics: undefined, nodes: [], budgets: [] };
}

/** No sync plans for a deleted object: all its NICs wait, or the controllers keep some after the DELETE. */
async function holdOfDeletion(run: Run, config: ConfigObject, message: string): Promise<Hold> {
  const key = keyOf(config);
  const nics = config.status?.summary?.interfaces ?? 0;
  const hold = { config: key, message, budgets: [] };
  if (nics === 0) return { ...hold, nics: undefined, nodes: [] };
  const read = await readNodes(run.session, { config: key });
  const why = causeOf(message);
  const nodes = (read.state === 'read' ? read.value : []).flatMap((node) => {
    const { nodeName, instanceId } = node;
    const heldNics = node.nics.map(({ name, macAddress }) => ({ name, macAddress, ...why }));
    return heldNics.length > 0 ? [{ nodeName, instanceId, heldNics }] : [];
  });
  return { ...hold, nics, nodes };
}

/** The operator's message begins with the code. */
function causeOf(message: string): Pick<BlockedNic, 'basis' | 'code'> {
  const code = holdCodeOf(message);
  if (code === 'OverBudget') return { basis: 'named', code };
  return code === 'SideEffect' ? { basis: 'sideEffect', code } : {};
}
