import { realpathSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { bundleFolder, program } from '../../rig/parts/program.ts';
import { type JobResult, jobFiles, jobResult } from '../../src/api/job.ts';
import type { ConfigMap, Job } from '../../src/kube/core-resources.ts';

export type PodSpec = NonNullable<NonNullable<Job['spec']>['template']['spec']>;
type Container = PodSpec['containers'][number];

export interface PodRun {
  readonly code: number;
  /** Absent if the termination message is empty. */
  readonly result?: JobResult;
  readonly stderr: string;
}

/**
 * Runs a Pod's agent on a host with exactly the Pod's mounts, capabilities, user and network. The image consists of
 * this machine's libraries, `ip`, and the bundle. `before` is a shell line run once everything is mounted: `$root` is
 * the container's root, `$message` the termination message path inside.
 */
export async function runPod(
  host: NamespaceHost,
  spec: PodSpec,
  request: ConfigMap,
  before = '',
): Promise<PodRun> {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-pod-'));
  try {
    for (const { hostPath } of spec.volumes ?? []) {
      if (hostPath?.type === 'DirectoryOrCreate') {
        await mkdir(join(host.root, hostPath.path), { recursive: true });
      }
    }
    const message = join(folder, 'message');
    await writeFile(message, '');
    // Like the kubelet: any container user may write the message and read the request.
    await chmod(message, 0o666);
    await chmod(folder, 0o755);
    await writeFile(join(folder, jobFiles.requestKey), request.data?.[jobFiles.requestKey] ?? '');
    const script = [...rootOf(spec, { host, folder, message }), before, commandOf(spec)].join('\n');
    const enter = ['unshare', '--mount', 'sh', '-c', script];
    // Without the host's network, the runtime provides a network with only lo.
    const network = spec.hostNetwork ? [] : ['unshare', '--net'];
    const { code, stderr } = await host.exec('env', '-i', `PATH=${path}`, ...network, ...enter);
    const text = await readFile(message, 'utf8');
    return { code, ...(text ? { result: jobResult.parse(JSON.parse(text)) } : {}), stderr };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const path = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Mount point for the container's file system, in a separate mount namespace. */
const root = '/mnt';

interface Place {
  readonly host: NamespaceHost;
  readonly folder: string;
  readonly message: string;
}

function agentOf({ containers: [agent] }: PodSpec): Container {
  if (!agent) throw new Error('the Pod has no container');
  return agent;
}

interface Mount {
  readonly source: string;
  /** Path inside the container. */
  readonly target: string;
  readonly readOnly?: boolean;
  readonly isFile?: boolean;
}

/** Returns shell lines assembling the container's file system like a runtime. */
function rootOf(spec: PodSpec, { host, folder, message }: Place): string[] {
  const { volumeMounts = [], terminationMessagePath = '', securityContext } = agentOf(spec);
  const volumes = volumeMounts.map(({ name, mountPath: target, readOnly = false }): Mount => {
    const hostPath = spec.volumes?.find((volume) => volume.name === name)?.hostPath;
    const source = hostPath ? join(host.root, hostPath.path) : folder;
    return { source, target, readOnly, isFile: hostPath?.type === 'File' };
  });
  const image = ['/usr', dirname(process.execPath), bundleFolder];
  const devices = ['/dev/null', '/dev/urandom'];
  const mounts: readonly Mount[] = [
    ...image.map((source) => ({ source, target: source, readOnly: true })),
    ...devices.map((source) => ({ source, target: source, isFile: true })),
    { source: message, target: terminationMessagePath, isFile: true },
    ...volumes,
  ];
  return [
    'set -e',
    `root=${root} message=${terminationMessagePath}`,
    'mount -t tmpfs tmpfs $root',
    `mkdir -p ${mounts.map(({ target, isFile }) => `$root${isFile ? dirname(target) : target}`).join(' ')} $root/proc`,
    'cp -P -t $root /bin /lib /lib64 /sbin',
    'mount -t proc proc $root/proc',
    ...[{ source: '/proc/sys', target: '/proc/sys', readOnly: true }, ...mounts].flatMap(linesOf),
    ...(securityContext?.readOnlyRootFilesystem ? ['mount -o remount,bind,ro $root'] : []),
  ];
}

function linesOf({ source, target, readOnly = false, isFile = false }: Mount): string[] {
  // A source link is resolved, as in the container runtime.
  const line = `mount --bind -o ${readOnly ? 'ro' : 'rw'} ${realpathSync(source)} $root${target}`;
  return isFile ? [`: > $root${target}`, line] : [line];
}

/** Returns the command with the capabilities a runtime leaves: an added capability is effective only for root. */
function commandOf(spec: PodSpec): string {
  const { args = [], securityContext } = agentOf(spec);
  const { capabilities, runAsUser = 0 } = securityContext ?? {};
  const added = (capabilities?.add ?? []).map((name) => `,+${name.toLowerCase()}`).join('');
  const limits = [`--bounding-set=-all${added}`, '--inh-caps=-all', '--no-new-privs'];
  const user = `--reuid=${runAsUser} --regid=${runAsUser} --clear-groups`;
  const { command, env } = program('agent');
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return `exec chroot $root setpriv ${user} ${limits.join(' ')} env ${words.join(' ')} ${[...command, ...args].join(' ')}`;
}
