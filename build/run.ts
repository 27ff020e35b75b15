// Runs parts of MultiNIC from source against the cluster of the current kubeconfig:
//   make run                                            operator and Viola
//   make run ARGS='--parts operator,viola,controller'   the controller too (AGENT_IMAGE names the agent's image)
// The parts read further settings from the environment (docs/reference/settings.md): CONTRABASS_ENDPOINT, CONTRABASS_ENCRYPT_KEY, …
// Viola and the operator share a token for this run only. Ctrl-C ends all parts.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { namespaces } from '../src/api/names.ts';
import { loadKubeconfig } from '../src/kube/access/kubeconfig.ts';
import { createKubeClient } from '../src/kube/client/http-client.ts';
import { systemClock as clock } from '../src/time/clock.ts';
import { entryPoint } from './entry-point.ts';
import { namespaceOfLease } from './installed-operator.ts';
import { untilOneEnds } from './until-one-ends.ts';

const runnable = ['viola', 'operator', 'controller'] as const;
type Runnable = (typeof runnable)[number];

const viola = { host: '127.0.0.1', port: 18080 };
const main = join(import.meta.dirname, '../src/main.ts');

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: { parts: { type: 'string', default: 'operator,viola' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    console.log("usage: make run [ARGS='--parts operator,viola,controller']");
    return 0;
  }
  const wanted = partsIn(values.parts);
  // kubectl must also ignore an environment variable with an empty value.
  const { KUBECONFIG: given = '' } = process.env;
  const kubeconfig = given === '' ? join(homedir(), '.kube', 'config') : given;
  await readable(kubeconfig);
  const folder = await mkdtemp(join(tmpdir(), 'multinic-run-'));
  try {
    const options = await optionsOf(folder, kubeconfig);
    return await untilOneEnds(wanted.map((part) => start(part, options[part])));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function partsIn(text: string): readonly Runnable[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !runnable.some((part) => part === name));
  if (unknown === undefined) return runnable.filter((part) => names.includes(part));
  throw new Error(`--parts: "${unknown}" is no part; there are ${runnable.join(', ')}`);
}

async function readable(kubeconfig: string): Promise<void> {
  try {
    await access(kubeconfig);
  } catch (cause) {
    throw new Error(`${kubeconfig} cannot be read: set KUBECONFIG to one kubeconfig`, { cause });
  }
}

/** Flags for each part; parts read the environment themselves. */
async function optionsOf(folder: string, kubeconfig: string) {
  const token = randomBytes(32).toString('hex');
  const sha256 = createHash('sha256').update(token).digest('hex');
  const grants = [
    { name: 'operator', sha256, providers: ['*'], verbs: ['read', 'write', 'delete'] },
  ];
  const files = { grants: join(folder, 'tokens.yaml'), token: join(folder, 'token') };
  await writeFile(files.grants, JSON.stringify(grants), { mode: 0o600 });
  await writeFile(files.token, token, { mode: 0o600 });
  const common = ['--kubeconfig', kubeconfig];
  return {
    viola: [...common, '--listen', `${viola.host}:${viola.port}`, '--tokens-file', files.grants],
    operator: [
      ...common,
      '--namespace',
      process.env['POD_NAMESPACE'] ?? (await leaseOf(kubeconfig)),
      '--viola-endpoint',
      `http://${viola.host}:${viola.port}`,
      '--viola-token-file',
      files.token,
      '--inventory-db-path',
      process.env['INVENTORY_DB_PATH'] ?? join(folder, 'inventory.db'),
    ],
    controller: common,
  } satisfies Record<Runnable, readonly string[]>;
}

async function leaseOf(kubeconfig: string): Promise<string> {
  await using client = createKubeClient(await loadKubeconfig(kubeconfig), { clock });
  const namespace = await namespaceOfLease(client);
  if (namespace !== namespaces.system) {
    console.log(
      `the lease is in ${namespace}: while an operator that is installed there works, this one waits`,
    );
  }
  return namespace;
}

function start(part: Runnable, flags: readonly string[]): ChildProcess {
  const { command, env } = entryPoint(part, { node: process.execPath, main });
  const [program, ...args] = [...command, ...flags];
  return spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
}

try {
  process.exitCode = await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
