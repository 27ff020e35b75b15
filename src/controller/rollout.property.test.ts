import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry } from '../../test/fixtures/controller-samples.ts';
import { RolloutFixture } from '../../test/fixtures/rollout.ts';
import { type Action, badMtu, failing, someStory } from '../../test/fixtures/rollout-stories.ts';
import type { Answer } from '../../test/fixtures/scripted-agents.ts';
import type { JobRequest, RequestInterface } from '../api/job.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { imageHash } from './scheduling/revision.ts';

const numRuns = Number(process.env['MULTINIC_ROLLOUT_STORIES'] ?? 3);

/** Steps of the test clock for an attach on an idle node. */
const attachSteps = 150;
/** Steps of the test clock until an agent starts. */
const startSteps = 8;
/** Steps of the test clock until a bad MTU has failed on a node. */
const stopSteps = 40;
/** Steps of the test clock until a good MTU is on all nodes. */
const spreadSteps = 600;

/** Nodes whose NIC in a network gets the same MTU. */
interface Revision {
  readonly network: number;
  readonly mtu: number;
  /** Edits of the network before the first node. */
  readonly epoch: number;
  readonly touched: Set<string>;
  readonly running: Set<string>;
  succeeded: number;
  /** Nodes failing for the first time. */
  harmed: number;
}

class Story {
  readonly violations: string[] = [];
  readonly #fixture: ControllerFixture;
  readonly #cluster: RolloutFixture;
  /** MTU by MAC on each node. */
  readonly #mtus = new Map<string, Map<string, number>>();
  /** MTUs of the two networks by node, as last requested for their oldest NICs. */
  readonly #requested = new Map<string, Map<number, number>>();
  /** Revisions in unfinished runs, by node. */
  readonly #working = new Map<string, readonly Revision[]>();
  readonly #revisions = new Map<string, Revision>();
  readonly #broken = new Set<string>();
  /** MACs of NICs whose last run failed, by node. */
  readonly #failing = new Map<string, Set<string>>();
  readonly #ports: number[];
  readonly #begun = new Map<JobRequest, readonly Revision[]>();
  readonly #wanted: [number, number] = [1450, 1450];
  /** Edits per network that change its MTU. */
  readonly #epochs: [number, number] = [0, 0];
  readonly #hasGenerations: boolean;
  #isEnding = false;
  #image = 'agent:0';
  #upgrades = 0;
  #generation = 1;

  constructor(
    fixture: ControllerFixture,
    {
      nodes,
      hasSource,
      hasGenerations,
    }: { nodes: number; hasSource: boolean; hasGenerations: boolean },
  ) {
    this.#fixture = fixture;
    this.#hasGenerations = hasGenerations;
    this.#cluster = new RolloutFixture(fixture, nodes);
    this.#cluster.hasSource = hasSource;
    this.#ports = this.#cluster.names.map(() => 2);
    fixture.agents.answer = (request) => this.#answer(request);
  }

  /** Configures all nodes, then breaks every third. */
  async begin(hasBroken: boolean): Promise<void> {
    await this.#cluster.createBare();
    await this.#write();
    this.#fixture.run({ 'agent-image': this.#image });
    await this.#untilReady();
    if (hasBroken) {
      for (const [at, name] of this.#cluster.names.entries())
        if (at % 3 === 0) this.#broken.add(name);
    }
  }

  async do(action: Action): Promise<void> {
    switch (action.kind) {
      case 'edit':
        this.#setMtu(action.network, action.mtu);
        if (action.isNew && this.#hasGenerations) this.#generation += 1;
        await this.#write();
        // A run replaced before its agent starts has a record, but the host and this model do not know it.
        return this.#fixture.pass(startSteps);
      case 'clash':
        await this.do({ kind: 'edit', network: action.network, mtu: badMtu, isNew: false });
        await this.#fixture.pass(stopSteps);
        await this.do({ kind: 'edit', network: 1 - action.network, mtu: action.mtu, isNew: false });
        return this.#spread();
      case 'attach':
        return this.#attach(action.node % this.#cluster.names.length);
      case 'restart':
        return this.#restart();
      case 'upgrade':
        this.#image = `agent:${(this.#upgrades += 1)}`;
        return this.#restart();
      case 'pass':
        return this.#fixture.pass(action.steps);
      default:
        return action satisfies never;
    }
  }

  async #restart(): Promise<void> {
    await this.#fixture.stop();
    this.#fixture.run({ 'agent-image': this.#image });
  }

  #setMtu(network: number, mtu: number): void {
    if (this.#wanted[network] === mtu) return;
    this.#wanted[network] = mtu;
    this.#epochs[network] = (this.#epochs[network] ?? 0) + 1;
  }

  /** A stopped MTU holds no other MTU: good MTUs reach every node, unless nodes are broken. */
  async #spread(): Promise<void> {
    if (this.#broken.size > 0) return;
    const without = () =>
      [...this.#wanted.entries()].flatMap(([network, mtu]) => {
        const { macAddress } = entry(network);
        const open = this.#cluster.names.filter(
          (name) => this.#mtus.get(name)?.get(macAddress) !== mtu,
        );
        return mtu === badMtu || open.length === 0 ? [] : [`MTU ${mtu} is not on ${open.join()}`];
      });
    for (let step = 0; step < spreadSteps && without().length > 0; step++) {
      await this.#fixture.pass(1, 1_000);
    }
    this.violations.push(...without());
  }

  /** Ends all failures, and waits until every node has the wanted content. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#broken.clear();
    for (const network of [0, 1]) this.#setMtu(network, 1450);
    await this.#write();
    await this.#untilReady();
    for (const name of this.#cluster.names) {
      const mtus = new Set(this.#mtus.get(name)?.values());
      if ([...mtus].join() !== '1450') this.violations.push(`${name} has MTUs ${[...mtus].join()}`);
    }
  }

  async #untilReady(): Promise<void> {
    const [first = ''] = this.#cluster.names;
    let value = 0;
    for (const name of this.#cluster.names) {
      await this.#fixture.eventually(
        async () => {
          const { metadata, status } = await this.#fixture.get(name);
          const ready = status?.conditions?.find(({ type }) => type === 'Ready');
          if (status?.observedGeneration === metadata.generation && ready?.status === 'True') {
            return true;
          }
          const isStopped = this.#cluster.having('RolloutStopped') > 0;
          if (isStopped) {
            await this.#cluster.annotate(first, { 'multinic.io/rollout-continue': `v${value++}` });
          }
          await this.#fixture.pass(20, 1_000);
          return false;
        },
        () => `${name} is not Ready`,
      );
    }
  }

  async #write(): Promise<void> {
    for (const [at, name] of this.#cluster.names.entries()) await this.#writeNode(at, name);
  }

  async #writeNode(at: number, name: string): Promise<void> {
    const nics = Array.from({ length: this.#ports[at] ?? 0 }, (_, nic) => this.#nic(nic));
    await this.#cluster.write(name, this.#generation, nics);
  }

  /**
   * The oldest NICs are in the two edited networks, attached ports in a third network. A port beside a waiting NIC makes a
   * revision unknown to this model; shared-content.test.ts has this case.
   */
  #nic(index: number): InterfaceSpec {
    const network = Math.min(index, 2);
    const mtu = this.#wanted[network] ?? 1450;
    return entry(index, { subnetId: `subnet-${network}`, mtu });
  }

  /** A port is attached without delay unless the generation of the source or the agent image changes. */
  async #attach(at: number): Promise<void> {
    const name = this.#cluster.names[at] ?? '';
    const port = this.#ports[at] ?? 0;
    if (port > 8) return;
    this.#ports[at] = port + 1;
    const { status } = await this.#fixture.get(name);
    await this.#writeNode(at, name);
    const source = this.#cluster.hasSource ? `source-1/${this.#generation}/` : 'provider/';
    const { revision = '' } = status?.applied ?? {};
    const isSame = revision.startsWith(source) && revision.endsWith(imageHash(this.#image));
    if (isSame) await this.#untilRequested(name, entry(port).macAddress);
  }

  async #untilRequested(name: string, mac: string): Promise<void> {
    const { requests } = this.#fixture.agents;
    const since = requests.length;
    const isRequested = () =>
      requests
        .slice(since)
        .some((one) => one.nodeName === name && one.interfaces.some((nic) => nic.mac === mac));
    for (let step = 0; step < attachSteps && !isRequested(); step++) await this.#fixture.pass(1);
    if (!isRequested()) this.violations.push(`the port ${mac} of ${name} waits`);
  }

  #answer(request: JobRequest): Answer {
    const { nodeName, action, interfaces } = request;
    if (action !== 'apply') return this.#fixture.agents.run(request);
    // The agent works for a further step.
    if (!this.#begun.has(request)) return this.#begin(request);
    const bad = interfaces.filter((nic) => this.#isBad(nodeName, nic));
    this.#working.delete(nodeName);
    this.#count(nodeName, this.#begun.get(request) ?? [], bad);
    for (const nic of interfaces) this.#note(nodeName, nic, !bad.includes(nic));
    return bad.length === 0 ? this.#fixture.agents.run(request) : failing(request, bad);
  }

  #isBad(node: string, { index, mtu }: RequestInterface): boolean {
    return mtu === badMtu || (index === 0 && this.#broken.has(node));
  }

  #note(node: string, { mac, mtu = 0 }: RequestInterface, isOk: boolean): void {
    const failed = this.#failing.get(node) ?? new Set<string>();
    this.#failing.set(node, failed);
    if (!isOk) {
      failed.add(mac);
      return;
    }
    failed.delete(mac);
    const host = this.#mtus.get(node) ?? new Map<string, number>();
    this.#mtus.set(node, host.set(mac, mtu));
  }

  #isFailing(node: string): boolean {
    return (this.#failing.get(node)?.size ?? 0) > 0;
  }

  #count(
    node: string,
    revisions: readonly Revision[],
    bad: readonly Pick<RequestInterface, 'index'>[],
  ): void {
    for (const revision of revisions) {
      revision.running.delete(node);
      if (!bad.some(({ index }) => index === revision.network)) revision.succeeded += 1;
      else if (!this.#isFailing(node)) revision.harmed += 1;
    }
  }

  #begin(request: JobRequest): undefined {
    const { nodeName, interfaces } = request;
    const oldest = interfaces.filter(({ index }) => index < 2);
    const changes = this.#changes(
      nodeName,
      new Map(oldest.map(({ index, mtu = 0 }) => [index, mtu])),
    );
    const started = changes.map(([network, mtu]) => this.#revisionOf(network, mtu));
    for (const revision of started) this.#judge(revision, nodeName);
    // A run replaced before the start passes the revisions on.
    const former = (this.#working.get(nodeName) ?? []).filter(({ network }) =>
      oldest.some(({ index }) => index === network && !changes.some(([of]) => of === index)),
    );
    const revisions = [...started, ...former];
    this.#begun.set(request, revisions);
    this.#working.set(nodeName, revisions);
    const requested = this.#requested.get(nodeName) ?? new Map<number, number>();
    for (const { index, mtu = 0 } of oldest) requested.set(index, mtu);
    this.#requested.set(nodeName, requested);
  }

  /** Returns the networks' new MTUs for a configured node. */
  #changes(
    node: string,
    mtus: ReadonlyMap<number, number>,
  ): readonly (readonly [number, number])[] {
    const before = this.#requested.get(node);
    if (!before) return [];
    return [...mtus].filter(([network, mtu]) => before.get(network) !== mtu);
  }

  #revisionOf(network: number, mtu: number): Revision {
    const key = `${network}:${mtu}`;
    const known = this.#revisions.get(key);
    if (known) return known;
    const nodes = { touched: new Set<string>(), running: new Set<string>() };
    const epoch = this.#epochs[network] ?? 0;
    const made = { network, mtu, epoch, ...nodes, succeeded: 0, harmed: 0 };
    this.#revisions.set(key, made);
    return made;
  }

  /** A revision from an earlier edit of the network has results already. Edits of the other network change nothing. */
  #judge(revision: Revision, node: string): void {
    const { network, mtu, touched, running, succeeded, harmed, epoch } = revision;
    if (touched.has(node)) return;
    const ended = touched.size - running.size;
    const wave = 1 + Math.ceil(this.#sizeOf(revision) * 0.1);
    const state = `touched ${[...touched].join()}, running ${[...running].join()}, ${succeeded} succeeded`;
    const isFirst = touched.size === 0;
    const found = {
      'a second node before the first has ended': ended === 0 && touched.size >= 1,
      'a node after the first has failed': harmed >= 1 && succeeded === 0 && !this.#isEnding,
      'a node beyond the wave': ended < wave && touched.size >= wave,
      'a failing node first': isFirst && this.#isFailingBeforeSound(node, revision),
    };
    const isJudged = epoch === this.#epochs[network];
    const violated = Object.entries(found).filter(([, holds]) => holds && isJudged);
    for (const [what] of violated) {
      this.violations.push(`${what}: ${node} takes MTU ${mtu} of network ${network}; ${state}`);
    }
    touched.add(node);
    running.add(node);
  }

  /** Number of nodes with the change, made or wanted. */
  #sizeOf(revision: Revision): number {
    const { touched } = revision;
    const open = this.#cluster.names.filter(
      (name) => !touched.has(name) && this.#isOpen(name, revision),
    );
    return touched.size + open.length;
  }

  #isOpen(name: string, { network, mtu }: Revision): boolean {
    return this.#wanted[network] === mtu && this.#requested.get(name)?.get(network) !== mtu;
  }

  #isFailingBeforeSound(node: string, revision: Revision): boolean {
    return this.#isFailing(node) && this.#hasSound(node, revision);
  }

  /** True if another node without a failure is at rest, and waits for the same change. */
  #hasSound(except: string, revision: Revision): boolean {
    return this.#cluster.names.some(
      (name) =>
        name !== except &&
        !this.#isFailing(name) &&
        !this.#working.has(name) &&
        this.#isOpen(name, revision),
    );
  }
}

it('each changed network reaches configured NICs in steps, sound nodes first, while another is stopped and ports are attached', async () => {
  const property = fc.asyncProperty(someStory, async ({ hasBroken, actions, ...cluster }) => {
    await using fixture = await ControllerFixture.start();
    const story = new Story(fixture, cluster);
    await story.begin(hasBroken);
    for (const action of actions) await story.do(action);
    await story.end();
    expect(story.violations).toEqual([]);
  });
  await fc.assert(property, { numRuns, endOnFailure: true });
});
