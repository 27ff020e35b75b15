import type { ConditionUpdate } from '../../../api/condition.ts';
import type { ClusterFacts } from '../../clusters/deliver/node-facts.ts';
import type { TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import type { ReadTime } from '../../model/read-time.ts';
import type { ReportedSync } from '../result.ts';
import {
  changedNodes,
  countAgain,
  type NicCount,
  nicsOf,
  type PlannedNode,
  plannedNodesOf,
} from './configured-nics.ts';

/** The planned NICs' state, as last read from the business cluster. */
export interface NodeEvidence {
  readonly read: ReadTime;
  /** The OpenstackConfig's generation. */
  readonly generation: number;
  readonly count: NicCount;
  /** Nodes with an object changed or deleted since the sync. */
  readonly changed: readonly string[];
}

/** Delivered after an attempt to sync, before later evidence. */
export interface Attempt {
  readonly delivered: ConditionUpdate;
  readonly generation: number;
}

/** Nodes as the last sync left them. */
export interface Expectation {
  readonly nodes: readonly PlannedNode[];
  readonly undecided: NicCount['undecided'];
  readonly generation: number;
  /** Key of the business cluster; reads of another one do not count. */
  readonly cluster: string;
  /** Monotonic milliseconds; earlier reads do not count. */
  readonly sinceMs: number;
}

/** All nodes in a business cluster at one time. */
export interface ClusterRead {
  readonly key: string;
  readonly facts: ClusterFacts;
  readonly read: ReadTime;
}

/** Longest evidence age (ms): leaves time to write the status within three minutes. */
const longestMs = 145_000;
/**
 * How long (ms) an earlier leader's conditions stay after the first read has begun, and at most: their evidence may be
 * almost `longestMs` old.
 */
const ofEarlierMs = { afterBegin: 15_000, most: 25_000 };
/** Viola's other replicas cache answers from before a POST for less time (ms). */
const cachedMs = 10_000;

/** Evidence for an OpenstackConfig's Delivered and NICsReady, in one term. */
export class EvidenceMemory {
  readonly #term: TermMemory;
  /** Undefined: no sync has completed in this term. */
  #expectation: Expectation | undefined;
  #isChanging = false;
  #evidence: NodeEvidence | undefined;
  #facts: ClusterFacts | undefined;
  #attempt: Attempt | undefined;
  /** When the first read began; undefined: none in this term. */
  #readBegunMs: number | undefined;
  /** Last evidence before syncs began to fail; undefined: none, or syncs succeed. */
  confirmedAt: Date | undefined;

  constructor(term: TermMemory) {
    this.#term = term;
  }

  /** Evidence; undefined: none in this term. */
  get last(): NodeEvidence | undefined {
    return this.#evidence;
  }

  /** Last attempt to sync; undefined: none in this term. */
  get attempt(): Attempt | undefined {
    return this.#attempt;
  }

  /** True if no sync in this term has sent nodes or completed. */
  get isNew(): boolean {
    return this.#expectation === undefined && !this.#isChanging;
  }

  /** True if the evidence is too old for a condition. Without evidence, conditions are from an earlier leader. */
  get isOld(): boolean {
    const { ledSince, clock } = this.#term;
    const until = this.#evidence
      ? this.#evidence.read.ms + longestMs
      : Math.min(
          ledSince + ofEarlierMs.most,
          (this.#readBegunMs ?? Number.POSITIVE_INFINITY) + ofEarlierMs.afterBegin,
        );
    return clock.monotonicMs() >= until;
  }

  /** Notes that a read of the business cluster begins. */
  noteReadBegun(): void {
    this.#readBegunMs ??= this.#term.clock.monotonicMs();
  }

  /** Notes that a sync begins to send nodes: until the sync ends, objects may change. */
  beginDelivery(): void {
    this.#isChanging = true;
  }

  noteAttempt(attempt: Attempt): void {
    this.#attempt = attempt;
    // Reads continue while syncs fail, but prove nothing about a newer plan.
    this.confirmedAt =
      attempt.delivered.status === 'True'
        ? undefined
        : (this.confirmedAt ?? this.#evidence?.read.at);
  }

  /** Uses a completed sync's nodes. */
  noteSync({ synced, cluster }: ReportedSync, generation: number): void {
    const sinceMs = this.#term.clock.monotonicMs() + cachedMs;
    const { undecided } = nicsOf(synced);
    this.expect({ nodes: plannedNodesOf(synced), undecided, generation, cluster, sinceMs });
    const { heldRead: read } = synced;
    this.#evidence = { read, generation, count: nicsOf(synced), changed: [] };
  }

  expect(expectation: Expectation): void {
    this.#isChanging = false;
    this.#expectation = expectation;
    this.#facts = undefined;
  }

  /** Uses a read from the business cluster, unless a sync has changed the nodes meanwhile. */
  noteRead({ facts, read, key }: ClusterRead): void {
    const expectation = this.#expectation;
    if (!expectation || this.#isChanging || read.ms < expectation.sinceMs) return;
    if (key !== expectation.cluster) return;
    const { nodes, undecided, generation } = expectation;
    const isSame = this.#facts === facts && this.#evidence !== undefined;
    this.#facts = facts;
    this.#evidence =
      isSame && this.#evidence
        ? { ...this.#evidence, read }
        : {
            read,
            generation,
            count: countAgain(nodes, undecided, facts),
            changed: changedNodes(nodes, facts),
          };
  }
}

export const evidenceMemory = new Slot((term: TermMemory) => new EvidenceMemory(term));
