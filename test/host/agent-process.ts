import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { mortalAgent } from '../../rig/parts/mortal.ts';
import { program } from '../../rig/parts/program.ts';
import {
  type JobRequest,
  type JobResult,
  jobResult,
  type RequestInterface,
} from '../../src/api/job.ts';

export interface AgentRun {
  readonly code: number;
  /** Absent if the process was killed before writing a result. */
  readonly result?: JobResult;
  /** External writes of a traced run as `NAME PHASE NUMBER`, in order; throws for others. */
  readonly effects: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Write that kills the process, as `NAME PHASE NUMBER`. */
  readonly killAt?: string;
  /** True to record external writes; the agent then starts from the bundle instead of the snapshot. */
  readonly traced?: boolean;
  /** Directory with an `ip` to use instead of the machine's. */
  readonly path?: string;
  /** True to run without any `ip`. */
  readonly withoutIp?: boolean;
  readonly flags?: readonly string[];
  /** Command prefix for running the agent. */
  readonly under?: readonly string[];
}

/** Returns a request's NIC, with defaults for fields most tests ignore. */
export function nic(
  index: number,
  mac: string,
  address: string,
  more: Partial<RequestInterface> = {},
): RequestInterface {
  return { index, mac, mtu: 1450, addresses: [address], routes: [], routing: 'pbr', ...more };
}

/** Runs the real agent process on the host, from its image's files. */
export async function runAgent(
  host: NamespaceHost,
  jobRequest: JobRequest | string,
  options: RunOptions = {},
): Promise<AgentRun> {
  const { flags = [], under = [], killAt, traced = killAt !== undefined } = options;
  const [requestFile, resultFile, effectsFile] = ['request', 'result', 'effects'].map((name) =>
    join(host.root, name),
  ) as [string, string, string];
  await writeFile(
    requestFile,
    typeof jobRequest === 'string' ? jobRequest : JSON.stringify(jobRequest),
  );
  await Promise.all([resultFile, effectsFile].map((file) => rm(file, { force: true })));
  const { code, stdout, stderr } = await host.exec(
    'env',
    `EFFECTS_FILE=${effectsFile}`,
    ...environment(options),
    ...under,
    ...(traced ? mortalAgent : program('agent').command),
    '--request',
    requestFile,
    '--result',
    resultFile,
    '--host-root',
    host.root,
    ...flags,
  );
  const result = await readFile(resultFile, 'utf8').catch(() => undefined);
  const effects = await readFile(effectsFile, 'utf8').catch(() => '');
  if (code === 1 && !result) throw new Error(`the agent left no result: ${stderr}`);
  return {
    code,
    ...(result ? { result: jobResult.parse(JSON.parse(result)) } : {}),
    get effects() {
      if (!traced) throw new Error('only a traced run records its writes');
      return effects.split('\n').filter((line) => line !== '');
    },
    stdout,
    stderr,
  };
}

function environment({ killAt, path, withoutIp }: RunOptions): string[] {
  return [
    ...(killAt ? [`KILL_AT=${killAt}`] : []),
    ...(path ? [`PATH=${path}:${process.env['PATH']}`] : []),
    ...(withoutIp ? ['PATH=/nowhere'] : []),
    'LOG_LEVEL=debug',
  ];
}
