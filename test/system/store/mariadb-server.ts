import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import type { MariadbAccess } from '../../../src/store/mariadb-access.ts';
import { scaled } from '../../speed.ts';

export interface Mariadb extends AsyncDisposable {
  readonly access: MariadbAccess;
}

const startLimitMs = scaled(90_000);

/** Starts Debian's MariaDB with separate data, port and socket; disposing removes all files. */
export async function startMariadb(more: readonly string[] = []): Promise<Mariadb> {
  const directory = await mkdtemp(join(tmpdir(), 'multinic-mariadb-'));
  const data = join(directory, 'data');
  let server: ChildProcess | undefined;

  async function stop(): Promise<void> {
    if (server !== undefined && server.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  }

  try {
    await install(data);
    const [port = 0] = await freePorts(1);
    const options = [
      '--no-defaults',
      '--user=root',
      `--datadir=${data}`,
      `--tmpdir=${directory}`,
      `--socket=${directory}/mysql.sock`,
      `--pid-file=${directory}/mysql.pid`,
      `--log-error=${directory}/error.log`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-buffer-pool-size=64M',
      '--skip-log-bin',
      '--skip-name-resolve',
      ...more,
    ];
    server = spawn('mariadbd', options, { stdio: 'ignore' });
    const access = { host: '127.0.0.1', port, user: 'root', password: '', database: 'multinic' };
    await answers(access, server, `${directory}/error.log`);
    return { access, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function install(data: string): Promise<void> {
  const options = ['--auth-root-authentication-method=normal', '--skip-test-db'];
  try {
    await promisify(execFile)('mariadb-install-db', [
      '--no-defaults',
      '--user=root',
      `--datadir=${data}`,
      // A starting server removes foreign temporary tables from a shared folder.
      `--tmpdir=${dirname(data)}`,
      ...options,
    ]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const text = 'MariaDB is not installed; run: apt-get install mariadb-server';
    throw new Error(text, { cause: error });
  }
}

async function answers(access: MariadbAccess, server: ChildProcess, log: string): Promise<void> {
  const { database: _notYet, ...login } = access;
  const end = Date.now() + startLimitMs;
  for (;;) {
    if (server.exitCode !== null) {
      const said = await readFile(log, 'utf8').catch(() => 'nothing');
      throw new Error(`MariaDB ended at once; it said: ${said.slice(-2_000)}`);
    }
    try {
      const connection = await createConnection(login);
      await connection.end();
      return;
    } catch (error) {
      if (Date.now() > end) throw new Error('MariaDB does not answer', { cause: error });
      await sleep(200);
    }
  }
}
