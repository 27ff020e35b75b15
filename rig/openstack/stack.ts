import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import * as z from 'zod';
import type { CloudAccess } from './tenant.ts';

/** The real OpenStack on loopback. */
export interface Stack extends CloudAccess, AsyncDisposable {
  readonly rabbit: Rabbit;
  /** Kills these processes, named as in `openstack status`. */
  stop(...names: readonly string[]): Promise<void>;
  /** Starts what does not run; resolves when servers can be booted. */
  start(): Promise<void>;
  /** Time in milliseconds at which any server last got or lost a port; 0: not yet. */
  interfacesChangedAt(): Promise<number>;
}

/** What can be done with its RabbitMQ. */
interface Rabbit {
  readonly host: string;
  readonly port: number;
  /** Of the services. */
  readonly username: string;
  readonly password: string;
  /** Runs rabbitmqctl and gives what it says. */
  control(...command: readonly string[]): Promise<string>;
  publish(messages: readonly Published[]): Promise<void>;
  /** Kills it, and starts it again. */
  restart(): Promise<void>;
}

/** A message as it is published, so many times; `bytes` is a body of so many blanks. */
export type Published = {
  readonly exchange: string;
  readonly key: string;
  readonly times?: number;
  readonly type?: string;
  readonly encoding?: string;
} & ({ readonly body: string } | { readonly bytes: number });

const script = new URL('openstack', import.meta.url).pathname;
const run = promisify(execFile);

const openrcSchema = z.object({
  OS_AUTH_URL: z.url(),
  OS_USERNAME: z.string(),
  OS_PASSWORD: z.string(),
  OS_PROJECT_NAME: z.string(),
  OS_USER_DOMAIN_NAME: z.string(),
});

/**
 * The stack, brought up if it does not run (1 to 3 minutes, with the packages once 5 more). Whoever started it stops
 * it: disposing takes down only what this call brought up.
 */
export async function useStack(say: (line: string) => void): Promise<Stack> {
  const started = !(await runs());
  if (started) await up(say);
  const access = await readAccess();
  return {
    ...access,
    rabbit: await readRabbit(),
    async stop(...names) {
      for (const name of names) await run(script, ['stop', name]);
    },
    start: async () => up(say),
    interfacesChangedAt,
    [Symbol.asyncDispose]: async () => {
      if (started) await run(script, ['down']);
    },
  };
}

async function runs(): Promise<boolean> {
  try {
    await run(script, ['status']);
    return true;
  } catch (error) {
    // Its exit code says that something does not run; anything else is a broken installation.
    if (error instanceof Error && 'code' in error && error.code === 1) return false;
    throw error;
  }
}

async function up(say: (line: string) => void): Promise<void> {
  const child = run(script, ['up'], { maxBuffer: 64 * 1024 * 1024 });
  child.child.stderr?.on('data', (chunk: Buffer | string) => say(String(chunk).trimEnd()));
  await child;
}

function stateFolder(): string {
  return process.env['MULTINIC_OPENSTACK_STATE'] ?? '/tmp/multinic-openstack';
}

/** plugins/loopback_ml2.py touches the file. */
async function interfacesChangedAt(): Promise<number> {
  const found = await stat(`${stateFolder()}/neutron/interfaces-changed`).catch(absent);
  return found?.mtimeMs ?? 0;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function readAccess(): Promise<CloudAccess> {
  const text = await readFile(`${stateFolder()}/openrc`, 'utf8');
  const entries = [...text.matchAll(/(OS_[A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]);
  const openrc = openrcSchema.parse(Object.fromEntries(entries));
  return {
    keystoneUrl: openrc.OS_AUTH_URL,
    admin: {
      username: openrc.OS_USERNAME,
      password: openrc.OS_PASSWORD,
      domainName: openrc.OS_USER_DOMAIN_NAME,
      projectName: openrc.OS_PROJECT_NAME,
    },
  };
}

async function readRabbit(): Promise<Rabbit> {
  const { stdout } = await run(script, ['broker']);
  const [host = '', port = '', username = '', password = ''] = stdout.trim().split(' ');
  return {
    host,
    port: Number(port),
    username,
    password,
    control: async (...command) =>
      (await run(script, ['rabbitctl', '--quiet', ...command])).stdout.trim(),
    async publish(messages) {
      const publishing = run(script, ['publish']);
      publishing.child.stdin?.end(messages.map((one) => `${JSON.stringify(one)}\n`).join(''));
      await publishing;
    },
    async restart() {
      await run(script, ['stop', 'rabbit']);
      await run(script, ['up'], { maxBuffer: 64 * 1024 * 1024 });
    },
  };
}
