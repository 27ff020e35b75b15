import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Login } from '../../../src/lifecycle/model/mariadb/login.ts';
import {
  backupOptions,
  clientOptions,
} from '../../../src/lifecycle/stages/credentials/client-options.ts';
import { initFile } from '../../../src/lifecycle/stages/credentials/init-file.ts';

const execute = promisify(execFile);

/** Ended container: exit status and termination message. */
export interface Ended {
  readonly status: number;
  readonly message: string;
  readonly log: string;
}

/**
 * Runs containers for the database's Pods like a kubelet: read-only root, user 999 without capabilities, volumes and a network per Pod.
 * `volumes` are folders below `folder` by mount path.
 */
export interface MariadbPod extends AsyncDisposable {
  readonly folder: string;
  /** Writes the Secret's rendered keys. */
  login(login: Login): Promise<void>;
  run(root: string, command: readonly string[], options?: RunOptions): Promise<Ended>;
  serve(root: string, command: readonly string[]): Promise<ChildProcess>;
  /** SQL over the server's socket as root. */
  sql(root: string, login: Login, statement: string): Promise<string>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Size of the backup volume, such as `8m`; default: the folder, without limit. */
  readonly backupSize?: string;
}

const volumes = [
  'var/lib/mysql',
  'run/mysqld',
  'tmp',
  'backup',
  'scratch',
  'etc/multinic',
] as const;

/** Volume `tmp` and the scratch folder are new in every container. */
const inside = String.raw`
root=$1 folder=$2 backup=$3
shift 3
mkdir -p $folder/root
mount --bind $root $folder/root
mount -o remount,ro,bind $folder/root
root=$folder/root
mount -t tmpfs -o mode=1777 tmpfs $root/tmp
for volume in var/lib/mysql run/mysqld backup etc/multinic; do mount --bind $folder/$volume $root/$volume; done
[ "$backup" = - ] || { mount -t tmpfs -o size=$backup,uid=999,gid=999 tmpfs $root/backup; cp -a $folder/backup/. $root/backup/; }
mount -t tmpfs -o uid=999,gid=999 tmpfs $root/scratch
mount -t tmpfs tmpfs $root/dev
for node in null zero random urandom; do touch $root/dev/$node; mount --bind /dev/$node $root/dev/$node; done
touch $root/dev/termination-log
mount --bind $folder/termination-log $root/dev/termination-log
mount -t proc proc $root/proc
status=0
chroot --userspec=999:999 --groups=999 $root "$@" || status=$?
[ "$backup" = - ] || ls -A $root/backup >$folder/backup-volume
exit $status
`;

export async function mariadbPod(folder: string): Promise<MariadbPod> {
  for (const volume of volumes) await mkdir(join(folder, volume), { recursive: true });
  await execute('chown', ['-R', '999:999', folder]);
  // The Pod's network, which outlives the containers.
  const network = spawn(
    'unshare',
    ['--net', 'sh', '-c', 'ip link set lo up; echo up; exec sleep infinity'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await new Promise((resolve) => network.stdout.once('data', resolve));
  const servers: ChildProcess[] = [];

  function words(root: string, command: readonly string[], backup: string): string[] {
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
    const enter = ['nsenter', `--net=/proc/${network.pid}/ns/net`, '--', 'unshare', ...namespaces];
    return [...enter, 'bash', '-ec', inside, 'sh', root, folder, backup, ...command];
  }

  async function run(
    root: string,
    command: readonly string[],
    { env = {}, backupSize = '-' }: RunOptions = {},
  ): Promise<Ended> {
    await writeFile(join(folder, 'termination-log'), '', { mode: 0o666 });
    await execute('chmod', ['666', join(folder, 'termination-log')]);
    const [program = '', ...rest] = words(root, command, backupSize);
    const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env };
    const child = spawn(program, rest, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    child.stdout.on('data', (data) => void (log += String(data)));
    child.stderr.on('data', (data) => void (log += String(data)));
    const status = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
    const message = (await readFile(join(folder, 'termination-log'), 'utf8')).trim();
    return { status, message, log };
  }

  async function serve(root: string, command: readonly string[]): Promise<ChildProcess> {
    await writeFile(join(folder, 'termination-log'), '', { mode: 0o666 });
    const [program = '', ...rest] = words(root, command, '-');
    const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
    const child = spawn(program, rest, { env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
    servers.push(child);
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (data) => {
        log += String(data);
        if (log.includes('ready for connections')) resolve();
      });
      child.once('close', () => reject(new Error(`mariadbd ended:\n${log}`)));
    });
    return child;
  }

  return {
    folder,
    run,
    serve,
    async login(login) {
      await writeFile(join(folder, 'etc/multinic/init.sql'), initFile(login));
      await writeFile(join(folder, 'etc/multinic/client.cnf'), clientOptions(login));
      await writeFile(join(folder, 'etc/multinic/backup.cnf'), backupOptions(login));
      const root = clientOptions({ ...login, user: 'root', password: login.rootPassword });
      await writeFile(join(folder, 'etc/multinic/root.cnf'), root);
    },
    async sql(root, login, statement) {
      const command = ['mariadb', '--defaults-file=/etc/multinic/root.cnf', '--batch'];
      const { status, log } = await run(root, [
        ...command,
        '--skip-column-names',
        `--execute=${statement}`,
        login.database,
      ]);
      if (status !== 0) throw new Error(log);
      return log.trim();
    },
    async [Symbol.asyncDispose]() {
      for (const child of servers) if (child.exitCode === null) await stopped(child);
      network.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Stops a server like a kubelet: the first process in the PID namespace gets SIGTERM. */
export async function stopped(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('close', resolve));
  if (signal === 'SIGKILL') child.kill('SIGKILL');
  else await terminateServer(child.pid ?? 0);
  await ended;
}

async function terminateServer(pid: number): Promise<void> {
  const { stdout } = await execute('ps', ['-e', '-o', 'pid=,ppid=,comm=']);
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  const below = new Set([String(pid)]);
  for (const [own = '', parent = '', name] of rows.toSorted(
    (a, b) => Number(a[0]) - Number(b[0]),
  )) {
    if (!below.has(parent)) continue;
    below.add(own);
    if (name === 'mariadbd') process.kill(Number(own), 'SIGTERM');
  }
}
