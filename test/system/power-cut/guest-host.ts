import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundle } from '../../../build/bundler.ts';
import { entryPoint } from '../../../build/entry-point.ts';
import {
  type CutGuest,
  Guest,
  type GuestProfile,
  guestImage,
  type SavedGuest,
} from '../../../rig/hosts/guest/guest.ts';
import type { Output } from '../../../rig/hosts/namespace/command.ts';
import { type JobRequest, type JobResult, jobResult } from '../../../src/api/job.ts';
import { eventually } from '../../host/eventually.ts';
import type { Shown } from '../distros/nic-state.ts';

const run = promisify(execFile);
const inGuest = '/opt/multinic';
const { command: agentCommand } = entryPoint('agent', {
  node: `${inGuest}/node`,
  main: `${inGuest}/main.mjs`,
});
const result = '/root/result';
const places = [
  'netplan',
  'NetworkManager/system-connections',
  'sysconfig/network-scripts',
  'systemd/network',
  'sysctl.d',
].map((folder) => `/etc/${folder}`);
export const agentWords = [
  ...agentCommand,
  '--request',
  '/root/request',
  '--result',
  result,
  '--host-root',
  '/',
];

/** Disk with the agent's files and this process's Node.js; removed when disposed of. */
export async function programDisk(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-program-'));
  const path = join(folder, 'disk');
  await bundle(join(folder, 'files'));
  await cp(process.execPath, join(folder, 'files/node'));
  await run('mke2fs', ['-q', '-t', 'ext4', '-d', join(folder, 'files'), path, '256M']);
  await rm(join(folder, 'files'), { recursive: true });
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** An emulated second on an idle machine takes a minute on a busy machine; the checks are emulated, too. */
export function inTime(assertion: () => Promise<void>): Promise<void> {
  return eventually(assertion, 120_000, 500);
}

/** A guest for agent runs. */
export class GuestHost implements AsyncDisposable {
  readonly profile: GuestProfile;
  readonly guest: Guest;

  private constructor(profile: GuestProfile, guest: Guest) {
    this.profile = profile;
    this.guest = guest;
  }

  static async boot(
    profile: GuestProfile,
    program: string,
    nics: Readonly<Record<number, string>> = {},
  ): Promise<GuestHost> {
    const slots = new Map(Object.entries(nics).map(([slot, mac]) => [Number(slot), mac]));
    const image = await guestImage(profile);
    const host = new GuestHost(profile, await Guest.boot({ image, program, nics: slots }));
    await host.settled();
    return host;
  }

  /** Boots after a power cut. */
  static async bootAfter(profile: GuestProfile, cut: CutGuest): Promise<GuestHost> {
    const host = new GuestHost(profile, await Guest.bootAfter(cut));
    await host.settled();
    return host;
  }

  static async resume(profile: GuestProfile, saved: SavedGuest): Promise<GuestHost> {
    return new GuestHost(profile, await Guest.resume(saved));
  }

  /** Writes the request for the next run. */
  async ask(asked: JobRequest): Promise<void> {
    const request = JSON.stringify({ ...asked, family: this.profile });
    await this.guest.sh(['sh', '-c', `rm -f ${result}; cat > /root/request; sync`], request);
  }

  /** Runs the image's agent; resolves to the result. */
  async agent(asked: JobRequest): Promise<{ readonly result: JobResult; readonly log: string }> {
    await this.ask(asked);
    const { stderr: log } = await this.guest.exec(agentWords);
    const text = await this.sh('cat', result).catch((cause: unknown) => {
      throw new Error(`no result: ${log}`, { cause });
    });
    return { result: jobResult.parse(JSON.parse(text)), log };
  }

  sh(...command: readonly string[]): Promise<string> {
    return this.guest.sh(command);
  }

  exec(...command: readonly string[]): Promise<Output> {
    return this.guest.exec(command);
  }

  async json(...args: readonly string[]): Promise<readonly Shown[]> {
    return JSON.parse(await this.sh('ip', '-j', ...args)) as Shown[];
  }

  /** Text by path of our files, in the folders of all network managers. */
  async files(): Promise<Readonly<Record<string, string>>> {
    const chosen = ['--include=*multinic*', '--exclude-dir=backup'];
    const { stdout } = await this.exec('grep', '-rH', '', ...places, ...chosen);
    const lines = stdout.split('\n').filter((line) => line !== '');
    const files: Record<string, string> = {};
    for (const line of lines) {
      const [path = '', text] = [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1)];
      files[path] = `${files[path] ?? ''}${text}\n`;
    }
    return files;
  }

  /** The boot is over, and the node's own network is as it was made. */
  async settled(): Promise<void> {
    await this.exec('systemctl', 'is-system-running', '--wait');
    await inTime(async () => {
      const { stdout } = await this.exec('ip', '-4', 'addr', 'show', 'dev', 'eth0');
      if (!stdout.includes('inet 10.200.0.2/16')) throw new Error(`eth0 has no address: ${stdout}`);
      const { stdout: ways } = await this.exec('ip', 'route', 'show', 'default');
      if (!ways.includes('via 10.200.0.254 dev eth0')) throw new Error(`no default route: ${ways}`);
      await this.sh('ping', '-c', '1', '-W', '1', '10.200.0.254');
    });
  }

  /** Resolves when the network manager has configured all NICs after the boot. */
  async managerIsDone(): Promise<void> {
    const command =
      this.profile === 'keyfile' || this.profile === 'ifcfg'
        ? ['nmcli', '-g', 'DEVICE,STATE', 'device']
        : ['networkctl', 'list', '--no-legend', '--no-pager'];
    await inTime(async () => {
      const said = await this.sh(...command);
      const busy = said.split('\n').filter((line) => /pending|configuring|connecting/.test(line));
      if (busy.length > 0) throw new Error(`still at work: ${busy.join('; ')}`);
    });
  }

  async reboot(): Promise<void> {
    await this.guest.reboot();
    await this.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.guest[Symbol.asyncDispose]();
  }
}
