import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import * as z from 'zod';
import type { CloudAccess } from './tenant.ts';

/** The real OpenStack on loopback. */
export interface Stack extends CloudAccess, AsyncDisposable {}

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

async function readAccess(): Promise<CloudAccess> {
  const state = process.env['MULTINIC_OPENSTACK_STATE'] ?? '/tmp/multinic-openstack';
  const text = await readFile(`${state}/openrc`, 'utf8');
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
