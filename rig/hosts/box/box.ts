import { join } from 'node:path';
import { runScript } from './script.ts';

/** A Debian 12 machine with real systemd, udev, networkd and netplan in systemd-nspawn. */
export interface Box extends AsyncDisposable {
  readonly name: string;
  /** Network namespace of the box; made anew at every boot. */
  readonly netns: string;
  /** Network namespace behind its NICs; give its bridge br0 an address and the box has somebody to talk to. */
  readonly fabric: string;
  /** Runs a command inside and returns its standard output. */
  sh(command: readonly string[], stdin?: string): Promise<string>;
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

/** Boots a box named after `name` and this process. Call `down` in a `finally`. */
export async function startBox(name: string): Promise<Box> {
  const unique = `${name}-${process.pid}`;
  const run = async (verb: string, ...args: readonly string[]) =>
    void (await runScript(script, [verb, unique, ...args]));
  const down = async () => run('down');
  try {
    await run('up');
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
