import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { BoxKind } from '../box/box.ts';
import { runScript } from '../box/script.ts';
import type { Output } from '../namespace/command.ts';
import { ClosedError, connected } from './dialogue.ts';
import { GuestAgent } from './guest-agent.ts';
import { type Machine, nicDevice, nicOf, placesIn, qemuArguments } from './machine.ts';
import { Monitor } from './monitor.ts';

/** Who manages the network, as in boxes. */
export type GuestProfile = BoxKind['profile'];

/** On an idle machine ten seconds; with everything else that tests do, minutes. */
const bootMs = 600_000;
const run = promisify(execFile);

/** Makes what guests of this profile boot, if it is not there: folder with disk, kernel and initrd. */
export async function guestImage(profile: GuestProfile): Promise<string> {
  const printed = await runScript(join(import.meta.dirname, 'guest'), ['image', profile], {
    timeoutMs: 600_000,
  });
  return printed.trim();
}

/** A guest that stands still, from which others go on. */
export interface SavedGuest extends AsyncDisposable {
  readonly machine: Machine;
  readonly folder: string;
}

/** The disk of a guest as a power cut left it. */
export type CutGuest = SavedGuest;

/** Inside, what is written here is heard outside. */
export const tracePort = '/dev/virtio-ports/multinic.trace';

/** A Debian machine with its own kernel. */
export class Guest implements AsyncDisposable {
  readonly #folder: string;
  #machine: Machine;
  #qemu: ChildProcess | undefined;
  #monitor: Monitor | undefined;
  #agent: GuestAgent | undefined;

  private constructor(machine: Machine, folder: string) {
    this.#machine = machine;
    this.#folder = folder;
  }

  /** Boots a new guest. */
  static async boot(machine: Machine): Promise<Guest> {
    return Guest.#on(join(machine.image, 'root.qcow2'), machine, (guest) => guest.start());
  }

  /** Boots after a power cut. */
  static async bootAfter({ machine, folder }: CutGuest): Promise<Guest> {
    return Guest.#on(placesIn(folder).disk, machine, (guest) => guest.start());
  }

  /** Goes on where a saved one stands: in a second instead of a boot. */
  static async resume({ machine, folder }: SavedGuest): Promise<Guest> {
    const { disk } = placesIn(folder);
    const memory = `exec:cat ${join(folder, 'memory')}`;
    return Guest.#on(disk, machine, (guest) => guest.#start(['-incoming', memory]));
  }

  static async #on(disk: string, machine: Machine, begin: (guest: Guest) => Promise<void>) {
    const folder = await mkdtemp(join(tmpdir(), 'multinic-guest-'));
    const guest = new Guest(machine, folder);
    try {
      const backing = ['-b', disk, '-F', 'qcow2'];
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', ...backing, placesIn(folder).disk]);
      await begin(guest);
    } catch (error) {
      const said = await guest.console();
      await guest[Symbol.asyncDispose]();
      throw new Error(`no guest: ${said}`, { cause: error });
    }
    return guest;
  }

  /** Boots after a `cut` or `stop`. */
  start(): Promise<void> {
    return this.#start([]);
  }

  async #start(more: readonly string[]): Promise<void> {
    const places = placesIn(this.#folder);
    const qemu = ['qemu-system-x86_64', ...qemuArguments(this.#machine, this.#folder), ...more];
    // It ends with us, in whatever way we end.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...qemu], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.#qemu = child;
    this.#monitor = await Monitor.at(places.monitor);
    this.#agent = await GuestAgent.at(places.agent, bootMs);
  }

  /** Runs a command inside; resolves whatever its exit status is. */
  exec(command: readonly string[], stdin = ''): Promise<Output> {
    return this.#running.exec(command, stdin);
  }

  /** Runs a command inside and returns its standard output. */
  async sh(command: readonly string[], stdin = ''): Promise<string> {
    const { code, stdout, stderr } = await this.exec(command, stdin);
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  get #running(): GuestAgent {
    if (!this.#agent) throw new Error('the guest does not run');
    return this.#agent;
  }

  get #plug(): Monitor {
    if (!this.#monitor) throw new Error('the guest does not run');
    return this.#monitor;
  }

  /** Plugs a NIC into a PCI slot, where it is after a boot too. */
  async plug(slot: number, mac: string): Promise<void> {
    const { netdev, device } = nicDevice(slot, mac);
    await this.#plug.run('netdev_add', netdev);
    await this.#plug.run('device_add', device);
    this.#machine = { ...this.#machine, nics: new Map([...this.#machine.nics, [slot, mac]]) };
  }

  /** Resolves once the guest has let go of it. */
  async unplug(slot: number): Promise<void> {
    const id = nicOf(slot);
    await this.#plug.run('device_del', { id });
    await this.#plug.event('DEVICE_DELETED', { device: id });
    await this.#plug.run('netdev_del', { id: `${id}-port` });
    const nics = [...this.#machine.nics].filter(([at]) => at !== slot);
    this.#machine = { ...this.#machine, nics: new Map(nics) };
  }

  /** Hears what is written inside to `tracePort`, at once. */
  async trace(hear: (text: string) => void): Promise<Disposable> {
    const socket = await connected(placesIn(this.#folder).trace);
    socket.setEncoding('utf8').on('data', hear);
    return { [Symbol.dispose]: () => socket.destroy() };
  }

  /** Orderly, on the same disk. */
  async reboot(): Promise<void> {
    await this.#endsBy(async () => {
      await this.#running.exec(['systemctl', 'reboot']).catch(isClosed);
    });
    await this.start();
  }

  /** Power cut: what the guest has not brought down to its disk is lost. */
  async cut(): Promise<void> {
    await this.#endsBy(async () => void this.#qemu?.kill('SIGKILL'));
  }

  /**
   * What a power cut at this very moment leaves, while the guest itself goes on: a killed QEMU leaves its disk's file as it
   * is, and so does one that is stopped. `isInTime` is asked while it stands still.
   */
  async cutCopy(isInTime: () => boolean = () => true): Promise<CutGuest> {
    const child = this.#qemu;
    if (!child?.pid) throw new Error('the guest does not run');
    const saved = await newFolder(this.#machine);
    child.kill('SIGSTOP');
    try {
      await standsStill(child.pid);
      await copyFile(placesIn(this.#folder).disk, placesIn(saved.folder).disk);
      if (!isInTime()) throw new Error('the guest went on before it stood still');
    } catch (error) {
      await saved[Symbol.asyncDispose]();
      throw error;
    } finally {
      child.kill('SIGCONT');
    }
    return saved;
  }

  async #endsBy(act: () => Promise<void>): Promise<void> {
    const child = this.#qemu;
    if (!child) return;
    const end = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : [];
    await Promise.all([end, act()]);
    this.#agent?.[Symbol.dispose]();
    this.#monitor?.[Symbol.dispose]();
    this.#qemu = undefined;
    this.#agent = undefined;
    this.#monitor = undefined;
  }

  /** Ends it, and keeps disk and memory. */
  async save(): Promise<SavedGuest> {
    const saved = await newFolder(this.#machine);
    const uri = `exec:cat > ${join(saved.folder, 'memory')}`;
    const events = { capability: 'events', state: true };
    await this.#plug.run('migrate-set-capabilities', { capabilities: [events] });
    await this.#plug.run('migrate-set-parameters', { 'max-bandwidth': 1_000_000_000 });
    await this.#plug.run('migrate', { uri });
    await this.#plug.event('MIGRATION', { status: 'completed' });
    await this.cut();
    await rename(placesIn(this.#folder).disk, placesIn(saved.folder).disk);
    return saved;
  }

  /** What the kernel and systemd said last. */
  async console(): Promise<string> {
    const text = await readFile(placesIn(this.#folder).console, 'utf8').catch(() => '');
    return text.slice(-2000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cut();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A guest that goes down may do so before it has answered. */
function isClosed(error: unknown): void {
  if (!(error instanceof ClosedError)) throw error;
}

async function newFolder(machine: Machine): Promise<SavedGuest> {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-saved-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  return { machine, folder, [Symbol.asyncDispose]: remove };
}

/** Each thread of a process is stopped for itself, once it is back from what it asked of the kernel. */
async function standsStill(pid: number): Promise<void> {
  for (;;) {
    const threads = await readdir(`/proc/${pid}/task`);
    const texts = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
    if ((await Promise.all(texts)).every((text) => /\) T /.test(text))) return;
    await sleep(1);
  }
}
