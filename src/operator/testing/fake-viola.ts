import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import {
  type Base,
  type CheckRequest,
  type ExistingNodeConfig,
  type NodeErrorCode,
  type PostAnswer,
  type PostedNode,
  type Source,
  violaFeature,
} from '../../api/node-configs-http.ts';
import { specHash } from '../../api/spec-hash.ts';
import { kindOf } from '../../requests/answer.ts';
import { RequestError } from '../../requests/request-error.ts';
import { type Abilities, nativeAbilities } from '../clusters/deliver/abilities.ts';
import type { ListQuery } from '../clusters/deliver/list-query.ts';
import { type ClusterFacts, factsOf } from '../clusters/deliver/node-facts.ts';
import type { Listed } from '../clusters/deliver/node-list.ts';
import type {
  CheckRequested,
  RemovalCause,
  Removed,
  ViolaClient,
} from '../clusters/deliver/viola-client.ts';
import type { ReportedCluster } from '../clusters/deliver/viola-clusters.ts';

/** An in-memory Viola with fencing; removed nodes stay until `clean`. */
export class FakeViola implements ViolaClient {
  abilities: Abilities = nativeAbilities;
  readonly nodes = new Map<string, ExistingNodeConfig>();
  readonly posts: (readonly PostedNode[])[] = [];
  readonly removals: string[] = [];
  /** Bases of the removals: `node basis`. */
  readonly bases: string[] = [];
  readonly dryRuns: (readonly PostedNode[])[] = [];
  /** Requested checks: `node id`, with `heal`. */
  readonly checks: string[] = [];
  /** False: a Viola without dry run and checks. */
  isCurrent = true;
  readonly lists: ListQuery[] = [];
  readonly reads: string[] = [];
  /** Error codes of refused nodes. */
  readonly refused = new Map<string, NodeErrorCode>();
  /** Nodes missing from lists. */
  readonly unlisted = new Set<string>();
  /** Existing nodes in an unreadable form. */
  readonly unreadable = new Set<string>();
  /** Stale versions of nodes in lists. */
  readonly listedAs = new Map<string, ExistingNodeConfig>();
  /** Answer for the cluster list. */
  clusters: readonly ReportedCluster[] = [];
  /** Networks of each business cluster; undefined: unknown. */
  networks: readonly ClusterNetwork[] | undefined;
  /** Features in the cluster list; undefined: the list lacks the business cluster. */
  features: readonly string[] | undefined = violaFeature.options;
  /** Error for reads of the features. */
  featuresOutage: RequestError | undefined;
  /** False: the CRD of the business cluster is older, and drops `spec.mode`. */
  storesMode = true;
  /** False: a Viola of an earlier release, which drops cluster and cloud from the source. */
  storesIdentity = true;
  /** Ids of one business cluster. */
  readonly sameClusterIds = new Set<string>();
  /** Whole-list reads. */
  factReads = 0;
  /** Number of cluster list reads. */
  clusterReads = 0;
  /** Error for the next calls. */
  outage: RequestError | undefined;
  /** Holds lists until resolved. */
  beforeList: Promise<void> | undefined;
  /** Holds reads of all nodes until resolved. */
  beforeFacts: Promise<void> | undefined;
  /** Runs before a POST is processed, for instance as a concurrent foreign write. */
  beforePost: (() => void) | undefined;
  readonly #stuck: (readonly PostedNode[])[] = [];
  #sticks: NodeErrorCode | 'timeout' | undefined;
  readonly #cluster: string;

  /** `cluster`: prefix in uids; objects of different business clusters have different uids. */
  constructor(cluster = '') {
    this.#cluster = cluster;
  }

  put(node: ExistingNodeConfig): void {
    this.nodes.set(node.nodeName, node);
  }

  /** Completes the cleanup of all nodes being deleted. */
  clean(): void {
    for (const [name, node] of this.nodes) if (node.deletionTimestamp) this.nodes.delete(name);
  }

  /** Writes the status of all nodes, as their controller does after a run. */
  report(state: 'Configured' | 'Failed' | 'Observed', nicReason: string = state): void {
    for (const node of this.nodes.values())
      this.put({ ...node, status: statusAs(node, state, nicReason) });
  }

  fail(status: number, message = `unexpected status ${status}`): void {
    this.outage = new RequestError(message, { service: 'viola', kind: kindOf(status), status });
  }

  /** Makes the next POST time out, or fail with this code for each node; `unstick` carries the POST out. */
  stick(code: NodeErrorCode | 'timeout' = 'timeout'): void {
    this.#sticks = code;
  }

  async unstick(): Promise<void> {
    for (const nodes of this.#stuck.splice(0)) await this.post(nodes);
  }

  async admit(): Promise<void> {}

  async list(query: ListQuery): Promise<Listed> {
    this.#check();
    await this.beforeList;
    this.lists.push(query);
    const { source, instanceIds } = query;
    const selected = (node: ExistingNodeConfig) =>
      (node.source?.namespace === source.namespace && node.source.name === source.name) ||
      instanceIds.includes(node.spec.instanceId ?? '');
    const nodes = [...this.nodes.values()].filter(
      (node) =>
        selected(node) && !this.unlisted.has(node.nodeName) && !this.unreadable.has(node.nodeName),
    );
    return {
      nodes: nodes.map((node) => this.listedAs.get(node.nodeName) ?? node),
      unreadable: [...this.unreadable].map((objectName) => ({
        objectName,
        uid: this.nodes.get(objectName)?.uid ?? 'u',
        generation: 1,
        ...this.#stillKnown(objectName),
        message: 'spec.interfaces: Invalid input',
      })),
    };
  }

  async facts(): Promise<ClusterFacts | undefined> {
    this.#check();
    this.factReads += 1;
    await this.beforeFacts;
    if (!this.abilities.reports) return undefined;
    const nodes = [...this.nodes.values()].filter(({ nodeName }) => !this.unlisted.has(nodeName));
    return new Map(nodes.map((node) => [node.nodeName, factsOf(node)]));
  }

  async listClusters(): Promise<readonly ReportedCluster[]> {
    this.clusterReads += 1;
    this.#check();
    return this.clusters;
  }

  async listFeatures(): Promise<readonly string[] | undefined> {
    this.#check();
    if (this.featuresOutage) throw this.featuresOutage;
    return this.features;
  }

  async get(nodeName: string): Promise<ExistingNodeConfig | undefined> {
    this.#check();
    this.reads.push(nodeName);
    if (this.unreadable.has(nodeName)) {
      const details = { service: 'viola', kind: 'serverError', code: 'Unreadable' } as const;
      throw new RequestError('unexpected status 503', { ...details, status: 503 });
    }
    return this.nodes.get(nodeName);
  }

  async post(nodes: readonly PostedNode[]): Promise<PostAnswer> {
    this.#check();
    if (this.#sticks) return this.#hold(nodes, this.#sticks);
    this.posts.push(nodes);
    this.beforePost?.();
    const answer: PostAnswer = { applied: 0, results: [], errors: [] };
    for (const node of nodes) {
      const code = this.refused.get(node.nodeName) ?? this.#fence(node);
      const { nodeName } = node;
      if (code) answer.errors.push({ nodeName, code, field: '', message: 'refused' });
      else answer.results.push(this.#write(node));
    }
    return { ...answer, applied: answer.results.length };
  }

  async remove(
    nodeName: string,
    base: Base | null,
    { basis, reason, sourceUid }: RemovalCause = { basis: 'named' },
  ): Promise<Removed> {
    this.#check();
    this.removals.push(reason ? `${nodeName} ${reason}` : nodeName);
    this.bases.push(`${nodeName} ${basis}`);
    const node = this.nodes.get(nodeName);
    if (!node) return 'gone';
    if (isStale(node, base, sourceUid)) return 'stale';
    // A repeated DELETE changes annotations only.
    const generation = node.generation + (node.deletionTimestamp ? 0 : 1);
    this.put({ ...node, generation, deletionTimestamp: '2026-01-01T00:00:00Z' });
    return 'leaving';
  }

  async dryRun(nodes: readonly PostedNode[]): Promise<PostAnswer | undefined> {
    this.#check();
    if (!this.isCurrent) return undefined;
    this.dryRuns.push(nodes);
    const answer: PostAnswer = { applied: 0, results: [], errors: [] };
    for (const node of nodes) {
      const { nodeName } = node;
      const code = this.refused.get(nodeName) ?? this.#fence(node);
      const { uid = 'dry', generation = 1 } = this.nodes.get(nodeName) ?? {};
      if (code) answer.errors.push({ nodeName, code, field: '', message: 'refused' });
      else answer.results.push({ nodeName, uid, generation, status: 'updated' });
    }
    return { ...answer, applied: answer.results.length };
  }

  async check(nodeName: string, { id, heal }: CheckRequest): Promise<CheckRequested> {
    this.#check();
    if (!this.isCurrent) return 'unsupported';
    if (!this.nodes.has(nodeName)) return 'gone';
    this.checks.push(`${nodeName} ${id}${heal ? ' heal' : ''}`);
    return 'requested';
  }

  #hold(nodes: readonly PostedNode[], code: NodeErrorCode | 'timeout'): PostAnswer {
    this.#sticks = undefined;
    this.#stuck.push(nodes);
    if (code === 'timeout') {
      throw new RequestError('no answer within 30 s', { service: 'viola', kind: 'timeout' });
    }
    const error = { code, field: '', message: 'no answer' };
    return {
      applied: 0,
      results: [],
      errors: nodes.map(({ nodeName }) => ({ nodeName, ...error })),
    };
  }

  #stillKnown(objectName: string) {
    const { spec, source } = this.nodes.get(objectName) ?? {};
    return { ...(spec ? { instanceId: spec.instanceId } : {}), ...(source ? { source } : {}) };
  }

  #check(): void {
    if (this.outage) throw this.outage;
  }

  #fence({ nodeName, base }: PostedNode): NodeErrorCode | undefined {
    const node = this.nodes.get(nodeName);
    if (node?.deletionTimestamp) return 'Deleting';
    if (base === undefined) return undefined;
    const fits = base?.uid === node?.uid && base?.generation === node?.generation;
    return fits ? undefined : 'StaleBase';
  }

  #specOf({ nodeName, instanceId = '', interfaces = [], mode, ...rest }: PostedNode) {
    const { existingConfiguration } = rest;
    const own = { nodeName, instanceId, interfaces };
    const isObserved = mode === 'Observe' && this.storesMode;
    const consent = existingConfiguration === 'Adopt' ? { existingConfiguration } : {};
    return { ...own, specHash: specHash(own), ...(isObserved ? { mode } : {}), ...consent };
  }

  #write(node: PostedNode) {
    const { nodeName } = node;
    const source = this.storesIdentity ? node.source : withoutIdentity(node.source);
    const before = this.nodes.get(nodeName);
    const uid = `uid-${this.#cluster}${this.nodes.size + 1}-${nodeName}`;
    const marksBefore = ['pausedToObserve', 'setToObserve', 'setToAdopt'];
    const after = { ...emptyNode, uid, ...before };
    for (const mark of marksBefore) Reflect.deleteProperty(after, mark);
    const spec = this.#specOf(node);
    const same = before && JSON.stringify(before.spec) === JSON.stringify(spec);
    const generation = after.generation + (same ? 0 : 1);
    const marks = { labelledInstanceId: node.instanceId ?? '', ...(source ? { source } : {}) };
    this.put({ ...after, nodeName, generation, spec, ...marks, ...fieldsSet(node, spec) });
    const change = same ? 'unchanged' : 'updated';
    return { nodeName, uid: after.uid, generation, status: before ? change : 'created' } as const;
  }
}

/** Returns the fields that Viola sets for mode Observe and for the consent to adoption. */
function fieldsSet({ mode }: PostedNode, spec: ExistingNodeConfig['spec']) {
  return {
    ...(mode === 'Observe' ? { pausedToObserve: true } : {}),
    ...(spec.mode === 'Observe' ? { setToObserve: true } : {}),
    ...(spec.existingConfiguration ? { setToAdopt: true } : {}),
  };
}

function statusAs(
  { generation, spec }: ExistingNodeConfig,
  state: 'Configured' | 'Failed' | 'Observed',
  nicReason: string,
): NonNullable<ExistingNodeConfig['status']> {
  const [status, reason] = {
    Configured: ['True', 'AllInterfacesConfigured'] as const,
    Failed: ['False', nicReason] as const,
    Observed: ['Unknown', 'Observed'] as const,
  }[state];
  const nics = spec.interfaces ?? [];
  return {
    state,
    observedGeneration: generation,
    conditions: [{ type: 'Ready', status, reason, message: '' }],
    interfaceStatuses: nics.map(({ name, portId, macAddress }) => ({
      name,
      portId,
      macAddress,
      status: state,
      reason: nicReason,
    })),
  };
}

function withoutIdentity(source: Source | undefined): Source | undefined {
  if (!source) return undefined;
  const { cluster: _c, cloud: _p, ...earlier } = source;
  return earlier;
}

const emptyNode = { nodeName: '', uid: '', generation: 0, spec: { nodeName: '' } };

/** True if the node has changed, or has a new owner. */
function isStale(
  { uid, generation, source }: ExistingNodeConfig,
  base: Base | null,
  sourceUid: string | undefined,
): boolean {
  const isTaken = sourceUid !== undefined && source !== undefined && source.uid !== sourceUid;
  return isTaken || (base !== null && (base.uid !== uid || base.generation !== generation));
}
