import { setTimeout as sleep } from 'node:timers/promises';
import { createNodeReporter } from '../../../rig/kubelet/node-reporter.ts';
import type { JobRequest, NicResult, RequestInterface } from '../../../src/api/job.ts';
import { namespaces } from '../../../src/api/names.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { pods } from '../../../src/kube/core-resources.ts';
import { systemClock as clock } from '../../../src/time/clock.ts';
import { type Answer, ScriptedAgents } from '../../fixtures/scripted-agents.ts';
import type { Server } from './servers.ts';

const file = '/etc/netplan/50-cloud-init.yaml';
const heartbeatMs = 10_000;
const turnMs = 250;

/** Nodes whose kubelets and agents this process plays: cloud-init of netplan configured both NICs. */
export class ScriptedNodes implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #agents: ScriptedAgents;
  readonly #servers: ReadonlyMap<string, Server>;
  readonly #adopted = new Set<string>();
  readonly #running = new WeakSet<JobRequest>();
  readonly #stopped = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  private constructor(client: KubeClient, servers: readonly Server[]) {
    this.#client = client;
    this.#servers = new Map(servers.map((server) => [server.name, server]));
    this.#agents = new ScriptedAgents(client, clock);
    this.#agents.answer = (request) => this.#answer(request);
  }

  /** Registers the Nodes; resolves when all are Ready. */
  static async start(client: KubeClient, servers: readonly Server[]): Promise<ScriptedNodes> {
    const nodes = new ScriptedNodes(client, servers);
    const reporters = servers.map(({ name, id }, at) =>
      createNodeReporter(client, clock, {
        name,
        systemUUID: id,
        internalIp: `198.18.255.${at + 1}`,
        osImage: 'Ubuntu 24.04.1 LTS',
        readMachineId: async () => id.replaceAll('-', ''),
      }),
    );
    await Promise.all(reporters.map((reporter) => reporter.register()));
    nodes.#work = Promise.all([
      nodes.#every(heartbeatMs, () => Promise.all(reporters.map((one) => one.report()))),
      nodes.#every(turnMs, () => nodes.#turn()),
    ]);
    return nodes;
  }

  async #every(intervalMs: number, act: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await act();
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #turn(): Promise<void> {
    const { items } = await this.#client.list(pods, { namespace: namespaces.agents });
    await this.#agents.work(items.filter(({ spec }) => this.#servers.has(spec?.nodeName ?? '')));
  }

  /** Answers at the second turn, so that an agent runs for a while. */
  #answer(request: JobRequest): Answer {
    if (!this.#running.has(request)) {
      this.#running.add(request);
      return undefined;
    }
    const { action, nodeName, interfaces, existingConfiguration } = request;
    if (action === 'apply' && existingConfiguration === 'Adopt') this.#adopted.add(nodeName);
    const isAdopted = this.#adopted.has(nodeName);
    const nics = interfaces.map((nic) =>
      isAdopted ? configured(nic) : this.#refused(nic, nodeName),
    );
    const known = isAdopted ? interfaces.map(({ mac, index }) => ({ mac, index })) : [];
    return { outcome: isAdopted ? 'ok' : 'failed', family: 'netplan', nics, known };
  }

  #refused(nic: RequestInterface, nodeName: string): NicResult {
    const port = this.#servers.get(nodeName)?.ports.find(({ mac }) => mac === nic.mac);
    const section = `ethernets.${port?.link}.addresses`;
    return {
      ...about(nic),
      state: 'Failed',
      reason: 'NICInUse',
      message: `${file} ${section} configures the NIC; remove the NIC from that file`,
      code: 'FileConfiguresNic',
      args: `path=${file}`,
      found: { file, section, dhcp: false, addresses: [`${port?.address}/24`], adoption: 'Now' },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await this.#work;
  }
}

const about = ({ index, mac, portId }: RequestInterface) => ({
  index,
  mac,
  portId,
  name: `multinic${index}`,
});

const configured = (nic: RequestInterface): NicResult => ({
  ...about(nic),
  state: 'Configured',
  reason: 'Configured',
  message: '',
});
