import type { Effect } from '../../../api/effects.ts';
import type { WaitingNic } from '../../../api/held-nics.ts';
import { withWords } from '../../../api/message-codes.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { countsInBudget } from '../../../api/removals.ts';
import type { Store as ObjectStore } from '../../../kube/cache/store.ts';
import { isOf, keptProblem } from '../../../plan/kept-nics.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Clock } from '../../../time/clock.ts';
import { unansweredPosts } from '../../clusters/deliver/unanswered-posts.ts';
import { removalUnsupported } from '../../clusters/deliver/unsupported.ts';
import type { ViolaClient } from '../../clusters/deliver/viola-client.ts';
import type { Violas } from '../../clusters/deliver/violas.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import { type ConfigObject, statusOf } from '../../model/openstack-config.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { type StatusProblem, StepFailure } from '../../model/step-failure.ts';
import { type NicsAndNodes, othersIn } from '../../removals/budgets.ts';
import { openConsent } from '../../removals/consent.ts';
import { deliveredBases } from '../../removals/delivered-bases.ts';
import { nicsOfDelete } from '../../removals/held-set.ts';
import { countNics, macsOn } from '../../removals/nics-on.ts';
import { removalMemory } from '../../removals/removal-memory.ts';
import type { FormerClusters } from '../../report/result.ts';
import type { StatusWriter } from '../../report/status/writer.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { type DeliveredContext, formerPrefix } from '../sync/delivery.ts';
import { manualRemovals } from '../sync/manual-removals.ts';
import { basisOf } from './former-basis.ts';
import { decideFormer, deleteBasis, isKept, keysOf } from './former-decision.ts';
import { blockedProblems } from './former-problems.ts';
import { dropMoved, uidsOf } from './moved-records.ts';
import { occupiedBy } from './occupied.ts';
import { sortedByPlace } from './same-object.ts';
import { type NodeRemoval, ownNodes, removalsByDelete, removeNodes } from './withdraw.ts';
import { isSent, releaseOf, type Withdrawn } from './withdrawal.ts';

export interface FormerClustersDeps {
  readonly inventory: Inventory;
  readonly violas: Violas;
  readonly configs: Pick<ObjectStore<ConfigObject>, 'list'>;
  readonly settings: Pick<OperatorSettings, 'defaultK8sProviderId' | 'formerClusters'>;
  readonly writer: Pick<StatusWriter, 'prepare'>;
  readonly perform: Perform<Effect>;
  readonly clock: Pick<Clock, 'now'>;
}

/** An OpenstackConfig's remaining nodes in a former business cluster. */
interface Left {
  /** Nodes that are not clean yet. */
  readonly leaving: readonly ExistingNodeConfig[];
  readonly problems: readonly StatusProblem[];
  readonly heldNics: readonly WaitingNic[];
  /** Nodes in the present business cluster, which never leave. */
  readonly delivered: readonly ExistingNodeConfig[];
  readonly staying: readonly ExistingNodeConfig[];
}

/**
 * Removes nodes from former business clusters. A node is removed when the present business cluster shows a Node with
 * its instance id. A changed operator setting or credential form alone removes no NIC.
 */
export async function withdrawFromFormerClusters(
  context: DeliveredContext,
  deps: FormerClustersDeps,
  signal: AbortSignal,
): Promise<FormerClusters> {
  const { object, memory, config, source, rounds } = context;
  const { inventory, violas } = deps;
  const { deliveredTo } = statusOf(latestObject(context));
  const { inFormerClusters } = manualRemovals(object);
  const bases = deliveredBases.of(memory.term);
  const found: Left[] = [];
  const sameClusterIds: string[] = [];
  const clusters = await occupiedBy(source, deliveredTo, inventory);
  const occupied = new Set(clusters.keys());
  for (const [provider, known] of clusters) {
    if (provider === config.providerId) continue;
    try {
      // Before the list, which misses any POST that arrives later.
      const isOpen = unansweredPosts.of(memory.term).openForMs(provider) > 0;
      const viola = await violas.of(config.viola, provider, source);
      const left = viola.abilities.removes
        ? await withdraw(context, { provider, viola, known }, deps, signal)
        : leftByHand(known, provider, inFormerClusters);
      await dropMoved(left.delivered, { provider, source, known }, inventory);
      if (isEmpty(left) && !isOpen) {
        const details = { bases: bases.of(provider), moved: uidsOf(rounds.held) };
        const isWritten = await inventory.record(provider, source, [], details);
        if (isWritten) bases.settle(provider);
        occupied.delete(provider);
      }
      if (left.delivered.length + left.staying.length > 0) sameClusterIds.push(provider);
      found.push(left);
    } catch (error) {
      // A failure in a former business cluster does not undo the delivery to the present cluster.
      if (!(error instanceof StepFailure)) throw error;
      const words = `nodes in business cluster "${provider}" cannot be removed: `;
      const message = withWords(words, error.message);
      found.push({ ...nothingLeft, problems: [{ reason: error.reason, message }] });
    }
  }
  violas.noteSameCluster(config.viola, config.providerId, sameClusterIds);
  return {
    leaving: found.flatMap(({ leaving }) => leaving),
    deliveredTo: [...occupied].toSorted(),
    problems: found.flatMap(({ problems }) => problems),
    heldNics: found.flatMap(({ heldNics }) => heldNics),
    sameClusterIds,
    staying: found.flatMap(({ staying }) => staying.map(({ nodeName }) => nodeName)),
  };
}

/** Returns whether no node remains under a former id. */
function isEmpty({ leaving, problems, staying }: Left): boolean {
  return leaving.length + problems.length + staying.length === 0;
}

interface FormerCluster {
  readonly provider: string;
  readonly viola: ViolaClient;
  /** Node names in the inventory. */
  readonly known: readonly string[];
}

/** Removes nodes from a former business cluster, as far as allowed. Throws StepFailure. */
async function withdraw(
  context: DeliveredContext,
  { provider, viola, known }: FormerCluster,
  { configs, settings, writer, perform, clock }: FormerClustersDeps,
  signal: AbortSignal,
): Promise<Left> {
  const { object, memory, source } = context;
  const owner = { ...source, formerClusters: settings.formerClusters };
  const listed = await ownNodes({ viola, owner, known }, signal);
  const places = await sortedByPlace(listed, provider, context, signal);
  const { elsewhere: own, delivered, staying } = places;
  const others = othersIn(provider, object, configs.list(), settings);
  const now = clock.now();
  const {
    going,
    held,
    budgets,
    consented: covered,
  } = decideFormer(own, { provider, others, now }, context);
  const records = going.filter(({ basis }) => basis === 'named').flatMap(nicsOf);
  const again = releasesOf(own, provider, covered, context);
  const removals = [...going, ...again];
  // Removals and consent are recorded only if they can be sent.
  if (removals.length > 0) await viola.admit();
  await record(records, { provider, context }, writer, signal);
  const consented = removals.filter(({ basis }) => basis === 'consent');
  await storeConsent(consented, context, { writer, now }, signal);
  deliveredBases.of(memory.term).note(provider, removals.map(removalsByDelete));
  const gone = await removeNodes(removals, { viola, perform }, signal);
  removalMemory.of(memory).noteSent(again.map(releaseOf));
  const blocked = new Set(held.map(({ node }) => node));
  const isLeft = (node: ExistingNodeConfig) => !gone.has(node) && !blocked.has(node);
  const { sentReleases } = removalMemory.of(memory);
  const isReleased = (node: ExistingNodeConfig) => sentReleases.some((sent) => isOf(sent, node));
  const kept = own.filter((node) => isKept(node) && !isReleased(node));
  return {
    delivered,
    staying,
    heldNics: [
      ...held.flatMap((one) =>
        nicsOfDelete(one.node, provider).map((nic) => ({
          ...nic,
          isOverBudget: countsInBudget(one),
        })),
      ),
      ...kept.flatMap((node) => nicsOfDelete(node, provider)),
    ],
    leaving: own.filter(isLeft),
    problems: [
      ...blockedProblems(held, budgets, { provider, present: context.config.providerId }),
      ...own.filter((node) => !gone.has(node)).flatMap((node) => keptProblem(node)),
    ],
  };
}

/** Stores a new consent with its counts before the first use, unless the delivery has stored the consent. */
async function storeConsent(
  removals: readonly NodeRemoval[],
  context: DeliveredContext,
  { writer, now }: Pick<FormerClustersDeps, 'writer'> & { readonly now: Date },
  signal: AbortSignal,
): Promise<void> {
  const { planned, object } = context;
  const isStored = planned.plan.consentFor !== undefined || planned.input.consent?.isStored;
  const open = openConsent(object, now);
  if (removals.length === 0 || isStored || !open) return;
  const count = countNics(removals.map(({ node }) => node));
  await writer.prepare(context, { consent: { ...open, ...count } }, signal);
}

function nicsOf({ node }: NodeRemoval): ExistingNodeConfig[] {
  return macsOn(node).length > 0 ? [node] : [];
}

/** Records removals by an edit before the nodes are deleted; a repetition is recorded once. */
async function record(
  nodes: readonly ExistingNodeConfig[],
  { provider, context }: { readonly provider: string; readonly context: DeliveredContext },
  writer: FormerClustersDeps['writer'],
  signal: AbortSignal,
): Promise<void> {
  const removals = removalMemory.of(context.memory);
  const recorded = new Set(removals.recordedNics);
  const keys = nodes.map((node) => keysOf({ node }, provider));
  const added = keys.map((nics) => nics.filter((nic) => !recorded.has(nic)).length);
  const count: NicsAndNodes = {
    nics: added.reduce((sum, nics) => sum + nics, 0),
    nodes: added.filter((nics) => nics > 0).length,
  };
  if (count.nics > 0) await writer.prepare(context, { removals: count }, signal);
  const place = `${formerPrefix}${encodeURIComponent(provider)}:`;
  removals.noteRecorded(keys.flat(), (id) => id.startsWith(place));
}

/** Returns nodes in deletion with kept NICs and unsent evidence or consent. */
function releasesOf(
  own: readonly ExistingNodeConfig[],
  cluster: string,
  consented: ReadonlySet<ExistingNodeConfig>,
  context: DeliveredContext,
): Withdrawn[] {
  const { sentReleases } = removalMemory.of(context.memory);
  const consent = context.planned.input.consent?.value ?? '';
  return own
    .filter(isKept)
    .map((node): Withdrawn => {
      if (consented.has(node)) return { node, cluster, basis: 'consent', value: consent };
      return { node, cluster, basis: deleteBasis(basisOf(node, context)), value: '' };
    })
    .filter((release) => release.basis !== 'named' && !isSent(release, sentReleases));
}

const nothingLeft: Left = { leaving: [], problems: [], heldNics: [], delivered: [], staying: [] };

/**
 * Returns no nodes for a legacy Viola without recorded nodes, or after a user removed the nodes. Throws StepFailure
 * otherwise.
 */
function leftByHand(names: readonly string[], provider: string, isClean: boolean): Left {
  if (names.length === 0 || isClean) return nothingLeft;
  const { reason, message } = removalUnsupported(names, provider);
  const next = `${message}; then set the annotation multinic.io/allow-removals to a new value`;
  throw new StepFailure({ reason, message: next });
}
