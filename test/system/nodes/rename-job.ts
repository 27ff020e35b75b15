import * as z from 'zod';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { type PackedImage, packProgram } from './packed-image.ts';

export const nic = 'ens20';
export const mac = '02:00:00:00:01:14';

const netplan = `network: {version: 2, ethernets: {multinic0: {
  match: {macaddress: "${mac}"}, set-name: multinic0, addresses: [10.20.0.10/24]}}}
`;

// Replaces the agent in the agent's image: renames the NIC, makes the name persistent, and reports the process's capabilities.
const program = `
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
const ip = (...args) => execFileSync('ip', args);
ip('link', 'set', '${nic}', 'name', 'multinic0');
ip('link', 'set', 'multinic0', 'up');
ip('addr', 'add', '10.20.0.10/24', 'dev', 'multinic0');
writeFileSync('/etc/netplan/90-multinic0.yaml', ${JSON.stringify(netplan)}, { mode: 0o600 });
let root = 'writable';
try { writeFileSync('/probe', ''); } catch (error) { root = error.code; }
const capabilities = /^CapEff:\\s*(\\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1];
writeFileSync('/dev/termination-log', JSON.stringify({ capabilities, root, args: process.argv.slice(2) }));
`;

/** Packs the agent's image around the program above. */
export async function packRenameProgram(): Promise<PackedImage> {
  return packProgram(program);
}

function job(name: string, node: string): unknown {
  const container = {
    name: 'agent',
    image: 'localhost/multinic-agent:dev',
    imagePullPolicy: 'Never',
    args: ['--probe', 'yes'],
    securityContext: {
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsUser: 0,
      capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [{ name: 'netplan', mountPath: '/etc/netplan' }],
  };
  const volume = { name: 'netplan', hostPath: { path: '/etc/netplan', type: 'Directory' } };
  const pod = {
    nodeName: node,
    hostNetwork: true,
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    containers: [container],
    volumes: [volume],
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { backoffLimit: 0, template: { spec: pod } },
  };
}

async function completed(controlPlane: ControlPlane, name: string): Promise<void> {
  const wait = ['wait', '--for=condition=Complete', '--timeout=120s', `job/${name}`];
  try {
    await controlPlane.kubectl(wait);
  } catch (cause) {
    const pod = await controlPlane.kubectl(['describe', 'pods', '-l', `job-name=${name}`]);
    const log = await controlPlane.kubectl(['logs', `job/${name}`]);
    throw new Error(`the Job did not complete\n${pod}\n${log}`, { cause });
  }
}

const pods = z.object({
  items: z.tuple([
    z.object({
      status: z.object({
        containerStatuses: z.tuple([
          z.object({
            imageID: z.string(),
            state: z.object({
              terminated: z.object({ exitCode: z.number(), message: z.string().default('') }),
            }),
          }),
        ]),
      }),
    }),
  ]),
});

const report = z.object({ capabilities: z.string(), root: z.string(), args: z.array(z.string()) });

/** Runs the program as a Job on the node to the end; resolves to the report and the image. */
export async function runRenameJob(
  controlPlane: ControlPlane,
  node: string,
): Promise<z.infer<typeof report> & { imageID: string }> {
  const name = `rename-${node}`;
  await controlPlane.kubectl(['create', '-f', '-'], JSON.stringify(job(name, node)));
  await completed(controlPlane, name);
  const selected = ['get', 'pods', '-l', `job-name=${name}`, '-o', 'json'];
  const answer = pods.parse(JSON.parse(await controlPlane.kubectl(selected)));
  const [{ imageID, state }] = answer.items[0].status.containerStatuses;
  return { ...report.parse(JSON.parse(state.terminated.message)), imageID };
}
