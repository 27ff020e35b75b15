import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { Family, JobAction, JobRequest } from '../../src/api/job.ts';
import { configMapOf, jobOf } from '../../src/controller/jobs/job.ts';
import { rightsOf } from '../../src/controller/jobs/pod-rights.ts';
import { request } from '../fixtures/agent-samples.ts';
import { agentTask, template } from '../fixtures/controller-samples.ts';
import { nic } from './agent-process.ts';
import { stateOf } from './host-state.ts';

/** MAC for the NIC in Pod tasks. */
export const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway: '10.0.0.254' });
/** System with both NetworkManager profile formats: its agents have the most mounts. */
const osImages: Partial<Record<Family, string>> = { keyfile: 'Rocky Linux 9.4' };

export interface PodTask {
  readonly family: Family;
  readonly action: JobAction;
  readonly machineId: string;
  /** Node addresses; the host's own by default. */
  readonly protectedAddresses?: readonly string[];
}

/** Returns the controller's Pod for a task, with all rights an installation can grant, and its request. */
export function podOf({ family, action, machineId, protectedAddresses }: PodTask) {
  const machine = { ...agentTask().machine, machineId, osImage: osImages[family] };
  const job = jobOf(agentTask({ family, action, machine }), { ...template, systemBus: true });
  const spec = job.spec?.template.spec;
  if (!spec) throw new Error('the Job has no Pod');
  const rights = rightsOf(job);
  const fields: Partial<JobRequest> = {
    protocol: action === 'check' ? 3 : 2,
    family,
    machineId,
    rights,
    ...(protectedAddresses ? { protectedAddresses: [...protectedAddresses] } : {}),
  };
  const one = action === 'cleanup' ? [] : [wanted];
  const generation = action === 'cleanup' ? 2 : 1;
  return { spec, map: configMapOf(job, request(one, { ...fields, action, generation })) };
}

/** Returns the kernel's state and every file on the host, without the agent's lock. */
export async function wholeOf(host: NamespaceHost) {
  const names = await readdir(host.root, { recursive: true, withFileTypes: true });
  const files = names.filter((name) => name.isFile() && name.name !== 'lock');
  const texts = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return `${path}: ${await readFile(path, 'utf8')}`;
    }),
  );
  return { kernel: await stateOf(host), files: texts.toSorted() };
}

export type Whole = Awaited<ReturnType<typeof wholeOf>>;

/** Returns the machine id from the host's file. */
export async function machineIdOf({ root }: NamespaceHost): Promise<string> {
  return (await readFile(join(root, 'etc/machine-id'), 'utf8')).trim();
}
