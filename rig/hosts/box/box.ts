import { join } from 'node:path';
import { run as execute, type Output } from '../namespace/command.ts';
import { runScript } from './script.ts';

/** Which Debian a box runs, and who manages its network. */
export interface BoxKind {
  readonly suite: 'bullseye' | 'bookworm' | 'trixie';
  /** ifcfg: bookworm alone. */
  readonly profile: 'netplan' | 'networkd' | 'keyfile' | 'ifcfg';
}

/** A Debian machine with real systemd, udev and network manager in systemd-nspawn. */
export interface Box extends AsyncDisposable {
  readonly name: string;
  /** Network namespace of the box; made anew at every boot. */
  readonly netns: string;
  /** Network namespace behind its NICs; give its bridge br0 an address and the box has somebody to talk to. */
  readonly fabric: string;
  /** Runs a command inside and returns its standard output. */
  sh(command: readonly string[], stdin?: string): Promise<string>;
  /** Runs a command inside; resolves whatever its exit status is. */
  exec(command: readonly string[]): Promise<Output>;
  /** Folder of its files as it sees them itself, /run and /proc too; another one after each boot. */
  root(): Promise<string>;
  plug(nic: string, mac: string): Promise<void>;
  unplug(nic: string): Promise<void>;
  reboot(): Promise<void>;
  /** Orderly stop. */
  stop(): Promise<void>;
  /** Power cut. */
  cut(): Promise<void>;
  /** Boots after `stop` or `cut`. */
  start(): Promise<void>;
  /** Removes everything of it; may be called again. */
  down(): Promise<void>;
}

const script = join(import.meta.dirname, 'box');

export interface BoxOptions extends BoxKind {
  /** Folders of this machine that the box sees, by where it does. */
  readonly readOnly?: Readonly<Record<string, string>>;
}

const usual: BoxKind = { suite: 'bookworm', profile: 'netplan' };

/** Makes the root file system that boxes of this kind share, if it is not there: up to a minute, of ifcfg some minutes. */
export async function prepareBoxes({ suite, profile }: BoxKind): Promise<void> {
  await runScript(script, ['rootfs', suite, profile], { timeoutMs: 1_800_000 });
}

/** Boots a box named after `name` and this process. Call `down` in a `finally`. */
export async function startBox(
  name: string,
  { suite, profile, readOnly = {} }: BoxOptions = usual,
): Promise<Box> {
  const unique = `${name}-${process.pid}`;
  const run = async (verb: string, ...args: readonly string[]) =>
    void (await runScript(script, [verb, unique, ...args]));
  const down = async () => run('down');
  try {
    const binds = Object.entries(readOnly).flatMap(([from, to]) => ['--bind-ro', `${from}:${to}`]);
    await run('up', '--suite', suite, '--profile', profile, ...binds);
  } catch (cause) {
    await down();
    throw cause;
  }
  return {
    name: unique,
    netns: `box-${unique}`,
    fabric: `box-${unique}.fabric`,
    async sh(command, stdin = '') {
      return runScript(script, ['sh', unique, ...command], { stdin });
    },
    exec: async (command) => execute(script, ['sh', unique, ...command]),
    root: async () => (await runScript(script, ['root', unique])).trim(),
    plug: async (nic, mac) => run('plug', nic, mac),
    unplug: async (nic) => run('unplug', nic),
    reboot: async () => run('reboot'),
    stop: async () => run('stop'),
    cut: async () => run('cut'),
    start: async () => run('start'),
    down,
    [Symbol.asyncDispose]: down,
  };
}
