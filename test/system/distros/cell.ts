import { spawn } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Box, type BoxKind, prepareBoxes, startBox } from '../../../rig/hosts/box/box.ts';
import { ip } from '../../../rig/hosts/namespace/command.ts';
import { program } from '../../../rig/parts/program.ts';
import { type Family, type JobRequest, type JobResult, jobResult } from '../../../src/api/job.ts';
import type { Shown } from './nic-state.ts';

/** NICs of every box: MAC by initial name. */
export const plugged = {
  ens5: '02:00:00:00:01:05',
  ens6: '02:00:00:00:01:06',
  ens7: '02:00:00:00:01:07',
} as const;

/** The network behind the NICs. */
const neighbours = ['10.0.0.254/16', '10.1.0.254/16', 'fd00::fe/64', 'fd01::fe/64'];

const units = {
  netplan: 'systemd-networkd',
  networkd: 'systemd-networkd',
  keyfile: 'NetworkManager',
  ifcfg: 'NetworkManager',
} as const satisfies Record<BoxKind['profile'], string>;

const folders: Readonly<Record<BoxKind['profile'], readonly string[]>> = {
  netplan: ['etc/netplan', 'etc/sysctl.d'],
  networkd: ['etc/systemd/network', 'etc/sysctl.d'],
  keyfile: ['etc/NetworkManager/system-connections', 'etc/systemd/network', 'etc/sysctl.d'],
  ifcfg: ['etc/sysconfig/network-scripts', 'etc/systemd/network', 'etc/sysctl.d'],
};

/** The agent runs inside, with the Node.js of this process; on Debian 13 a box mounts a separate filesystem on /tmp. */
const repository = join(import.meta.dirname, '../../..');
const inBox = '/opt/multinic';

/** A box for a network manager, and agent runs in this box. */
export class Cell implements AsyncDisposable {
  readonly kind: BoxKind;
  readonly family: Family;
  readonly #box: Box;
  #generation = 0;

  private constructor(kind: BoxKind, box: Box) {
    this.kind = kind;
    this.family = kind.profile;
    this.#box = box;
  }

  static async start(kind: BoxKind): Promise<Cell> {
    await prepareBoxes(kind);
    const box = await startBox(`${kind.suite}-${kind.profile}`, {
      ...kind,
      readOnly: { [repository]: inBox },
    });
    try {
      for (const address of neighbours) {
        await ip(['-n', box.fabric, 'addr', 'add', address, 'dev', 'br0', ...nodad(address)]);
      }
      for (const [nic, mac] of Object.entries(plugged)) await box.plug(nic, mac);
    } catch (error) {
      await box.down();
      throw error;
    }
    return new Cell(kind, box);
  }

  get title(): string {
    return `${this.kind.suite} ${this.kind.profile}`;
  }

  /** Runs the image's agent with the next generation of the object; resolves to the result. */
  async agent(asked: JobRequest): Promise<{ readonly result: JobResult; readonly log: string }> {
    this.#generation += asked.action === 'check' ? 0 : 1;
    const request = { ...asked, generation: this.#generation, family: this.family };
    const folder = join(await this.#box.root(), 'root');
    await writeFile(join(folder, 'request'), JSON.stringify(request));
    await rm(join(folder, 'result'), { force: true });
    const files = ['--request', '/root/request', '--result', '/root/result', '--host-root', '/'];
    const command = program('agent').command.map((word) => word.replace(repository, inBox));
    const { stderr: log } = await this.#box.exec([...command, ...files]);
    const text = await readFile(join(folder, 'result'), 'utf8').catch((cause: unknown) => {
      throw new Error(`no result: ${log}`, { cause });
    });
    return { result: jobResult.parse(JSON.parse(text)), log };
  }

  ip(...args: readonly string[]): Promise<string> {
    return ip(['-n', this.#box.netns, ...args]);
  }

  async json(...args: readonly string[]): Promise<readonly Shown[]> {
    return JSON.parse(await this.ip('-j', ...args)) as Shown[];
  }

  sh(...command: readonly string[]): Promise<string> {
    return this.#box.sh(command);
  }

  /** Flushes the kernel state; NICs come back with their initial names. */
  reboot(): Promise<void> {
    return this.#box.reboot();
  }

  async restartManager(): Promise<void> {
    await this.#box.sh(['systemctl', 'restart', units[this.kind.profile]]);
  }

  /**
   * States of the node's own NIC and our NICs, from the network manager, a line each: `eth0:connected`, `2 eth0 ether routable configured`
   * …
   */
  async managerStates(): Promise<readonly string[]> {
    const command =
      units[this.kind.profile] === 'NetworkManager'
        ? ['nmcli', '-g', 'DEVICE,STATE', 'device']
        : ['networkctl', 'list', '--no-legend', '--no-pager'];
    const said = await this.sh(...command);
    return said.split('\n').filter((line) => /\b(eth0|multinic\d)\b/.test(line));
  }

  /** Text by path of all files in the agent's folders. */
  async files(): Promise<Readonly<Record<string, string>>> {
    const root = await this.#box.root();
    const lists = await Promise.all(
      folders[this.kind.profile].map(async (folder) => {
        const entries = await readdir(join(root, folder), { withFileTypes: true });
        const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
        return Promise.all(
          names.map(async (name) => [
            `${folder}/${name}`,
            await readFile(join(root, folder, name), 'utf8'),
          ]),
        );
      }),
    );
    return Object.fromEntries(lists.flat()) as Record<string, string>;
  }

  /** Kernel events for links, addresses and routes of the primary NIC during `work`, a line each. */
  async eventsOnPrimary(work: () => Promise<void>): Promise<readonly string[]> {
    const of = ['-o', 'monitor', 'link', 'address', 'route'];
    const monitor = spawn('ip', ['-n', this.#box.netns, ...of], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    monitor.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    // A first event proves that the monitor listens, a last event proves that all events have arrived.
    const sign = async (word: string): Promise<void> => {
      while (!said.includes(word)) {
        await this.ip('link', 'add', word, 'type', 'bridge');
        await this.ip('link', 'del', word);
      }
    };
    try {
      await sign('mnbegins');
      await work();
      await sign('mnends');
      return said.split('\n').filter((line) => line.includes('eth0'));
    } finally {
      monitor.kill('SIGKILL');
    }
  }

  /** Pings from the primary NIC to the gateway every 10 ms during `work`, 400 per call: the ping summaries with a lost answer. */
  async pingsUnanswered(work: () => Promise<void>): Promise<readonly string[]> {
    const said: string[] = [];
    const over = new AbortController();
    const pinging = (async () => {
      while (!over.signal.aborted) {
        const args = ['-q', '-i', '0.01', '-c', '400', '10.200.0.254'];
        said.push((await this.#box.exec(['ping', ...args])).stdout);
      }
    })();
    try {
      await work();
    } finally {
      over.abort();
      await pinging;
    }
    return said.filter((text) => !/^400 packets transmitted, 400 received, 0%/m.test(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#box.down();
  }
}

function nodad(address: string): string[] {
  return address.includes(':') ? ['nodad'] : [];
}
