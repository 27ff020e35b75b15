import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '../..');
export const encryptKey = '0123456789abcdef';

/** Ids of what the bench looks at. */
export interface Furnished {
  readonly projectId: string;
  readonly networkId: string;
  readonly subnetId: string;
  readonly servers: readonly string[];
}

/** The simulated cloud and a Viola, each in a process of its own, so that they cost the operator nothing but waiting. */
export class BenchWorld implements AsyncDisposable {
  readonly #children: readonly ChildProcess[];
  readonly violaUrl: string;
  readonly contrabassUrl: string;
  readonly keystoneUrl: string;
  readonly providerId: string;
  readonly #controlUrl: string;

  private constructor(children: readonly ChildProcess[], urls: Readonly<Record<string, string>>) {
    this.#children = children;
    this.violaUrl = urls['violaUrl'] ?? '';
    this.contrabassUrl = urls['contrabassUrl'] ?? '';
    this.keystoneUrl = urls['keystoneUrl'] ?? '';
    this.providerId = urls['providerId'] ?? '';
    this.#controlUrl = urls['controlUrl'] ?? '';
  }

  static async start(): Promise<BenchWorld> {
    const cloud = start('rig/cloud/main.ts', '--encrypt-key', encryptKey);
    const viola = start('test/bench/operator-viola.ts');
    const [{ url: violaUrl = '' }, urls] = await Promise.all([firstLine(viola), firstLine(cloud)]);
    return new BenchWorld([cloud, viola], { ...urls, violaUrl });
  }

  /** Calls one of the controls of rig/cloud/controls.ts. */
  async control(name: string, argument: object): Promise<Record<string, string>> {
    return (await this.#controlled(name, argument)) as Record<string, string>;
  }

  /** Makes a project with servers that have so many ports each. */
  async furnish(serverCount: number, ports: number): Promise<Furnished> {
    const { projectId = '' } = await this.control('createProject', { name: 'bench' });
    const { networkId = '' } = await this.control('createNetwork', { projectId, mtu: 1450 });
    const subnet = { projectId, networkId, cidr: '10.0.0.0/8' };
    const { subnetId = '' } = await this.control('createSubnet', subnet);
    const made = { projectId, networkId, name: 'worker', servers: serverCount, ports };
    const { serverIds } = (await this.#controlled('furnish', made)) as { serverIds: string[] };
    return { projectId, networkId, subnetId, servers: serverIds };
  }

  async #controlled(name: string, argument: object): Promise<unknown> {
    const body = JSON.stringify(argument);
    const answer = await fetch(`${this.#controlUrl}/${name}`, { method: 'POST', body });
    if (!answer.ok) throw new Error(`control ${name}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** A token as the operator's, for requests that are made without it. */
  async token(projectId: string): Promise<string> {
    const user = { name: 'admin', password: 'admin', domain: { name: 'Default' } };
    const identity = { methods: ['password'], password: { user } };
    const body = JSON.stringify({ auth: { identity, scope: { project: { id: projectId } } } });
    const headers = { 'content-type': 'application/json' };
    const url = `${this.keystoneUrl}/v3/auth/tokens`;
    const answer = await fetch(url, { method: 'POST', headers, body });
    return answer.headers.get('x-subject-token') ?? '';
  }

  /** Nodes that Viola was posted since it was asked the last time. */
  async written(): Promise<number> {
    const answer = await fetch(`${this.violaUrl}/written`);
    return ((await answer.json()) as { written: number }).written;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }),
    );
  }
}

export function start(script: string, ...args: string[]): ChildProcess {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  return spawn(process.execPath, [join(root, script), ...args], { stdio: [...stdio] });
}

export async function firstLine(child: ChildProcess): Promise<Record<string, string>> {
  if (!child.stdout) throw new Error('the child has no output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return JSON.parse(line) as Record<string, string>;
}
