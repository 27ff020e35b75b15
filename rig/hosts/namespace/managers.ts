import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './command.ts';
import type { NamespaceHost } from './host.ts';

/** A network manager of systemd that runs in a host's network namespace, with a /run and files of its own. */
export interface Manager extends AsyncDisposable {
  /** What it has logged so far. */
  readonly log: () => string;
  stop(): Promise<void>;
}

/** Text by name of the manager's files: `.link`, `.network`. */
export type ManagerFiles = Readonly<Record<string, string>>;

const patienceMs = 20_000;
const rules = ['75-net-description.rules', '80-net-setup-link.rules'];

/**
 * Real systemd-udevd: renames, alternative names and MTU from `.link` files. A veth has no slot, so what the machine's
 * naming policy would give a NIC is spelled out in them.
 */
export async function startUdev(host: NamespaceHost, files: ManagerFiles): Promise<Manager> {
  // As the host's files say that it has udev.
  await mkdir(join(host.root, 'usr/lib/systemd'), { recursive: true });
  await writeFile(join(host.root, 'usr/lib/systemd/systemd-udevd'), '');
  const prepare = [
    'mkdir -p /run/udev',
    'mount --bind "$files" /etc/systemd/network',
    'mkdir "$files/rules"',
    ...rules.map((name) => `cp /lib/udev/rules.d/${name} "$files/rules/"`),
    'mount --bind "$files/rules" /lib/udev/rules.d',
  ];
  return start(host, files, prepare, '/lib/systemd/systemd-udevd', '/run/udev/control');
}

/** Real systemd-networkd, as after a boot with these `.network` files. */
export function startNetworkd(host: NamespaceHost, files: ManagerFiles): Promise<Manager> {
  const prepare = [
    'mkdir -p /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp',
    'chown -R systemd-network:systemd-network /run/systemd/netif',
    // Without udev's word it would wait for each link: a read-only /sys says that there is no udev.
    'mount -o remount,ro,bind /sys',
    'mount --bind "$files" /etc/systemd/network',
  ];
  const ready = '/run/systemd/netif/state';
  return start(host, files, prepare, '/lib/systemd/systemd-networkd', ready);
}

async function start(
  host: NamespaceHost,
  texts: ManagerFiles,
  prepare: readonly string[],
  daemon: string,
  readyFile: string,
): Promise<Manager> {
  const files = await mkdtemp(join(tmpdir(), 'multinic-manager-'));
  await run('chmod', ['755', files]);
  for (const [name, text] of Object.entries(texts)) await writeFile(join(files, name), text);
  const script = ['set -e', 'mount -t tmpfs tmpfs /run', ...prepare, `exec ${daemon}`].join('\n');
  const child = spawn(
    'nsenter',
    [`--net=/run/netns/${host.netns}`, '--', 'unshare', '-m', 'bash', '-c', script],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        files,
        SYSTEMD_LOG_LEVEL: 'info',
        SYSTEMD_LOG_TARGET: 'console',
      },
    },
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
    await rm(files, { recursive: true, force: true });
  };
  const ready = () => existsSync(`/proc/${child.pid}/root${readyFile}`);
  const end = performance.now() + patienceMs;
  while (!ready()) {
    if (child.exitCode !== null || performance.now() > end) {
      await stop();
      throw new Error(`${daemon} does not start: ${log}`);
    }
    await sleep(20);
  }
  return { log: () => log, stop, [Symbol.asyncDispose]: stop };
}
