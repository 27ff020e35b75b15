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
  /** Absent when the termination message is empty. */
  readonly result?: JobResult;
  readonly stderr: string;
}

/**
 * Runs a Pod's agent on a host with what the Pod gives it and nothing else: mounts, capabilities, user, network. Its image is
 * this machine's libraries and `ip`, and the bundle. `before` is a line of a shell that happens once everything is mounted:
 * `$root` is where the container's file system is, `$message` the path of the termination message in it.
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
    // As the kubelet does: whoever the container runs as may write the one and read the other.
    await chmod(message, 0o666);
    await chmod(folder, 0o755);
    await writeFile(join(folder, jobFiles.requestKey), request.data?.[jobFiles.requestKey] ?? '');
    const script = [...rootOf(spec, { host, folder, message }), before, commandOf(spec)].join('\n');
    const enter = ['unshare', '--mount', 'sh', '-c', script];
    // Without the host's network the runtime makes one in which there is nothing but lo.
    const network = spec.hostNetwork ? [] : ['unshare', '--net'];
    const { code, stderr } = await host.exec('env', '-i', `PATH=${path}`, ...network, ...enter);
    const text = await readFile(message, 'utf8');
    return { code, ...(text ? { result: jobResult.parse(JSON.parse(text)) } : {}), stderr };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const path = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Where the container's file system is put together, in its own mount namespace. */
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
  /** Where the container sees it. */
  readonly target: string;
  readonly readOnly?: boolean;
  readonly isFile?: boolean;
}

/** Lines that put together what the container sees, as a runtime does. */
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
  // A source that is a link is followed as the container runtime does.
  const line = `mount --bind -o ${readOnly ? 'ro' : 'rw'} ${realpathSync(source)} $root${target}`;
  return isFile ? [`: > $root${target}`, line] : [line];
}

/** What the runtime leaves a container of capabilities: an added one is effective for root alone. */
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
