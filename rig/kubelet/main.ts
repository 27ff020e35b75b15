import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadKubeconfig } from '../../src/kube/access/kubeconfig.ts';
import { startKubelet } from './kubelet.ts';

const help = `Stand-in kubelet: registers a Node and runs its agent Pods as processes in a network namespace.

  node rig/kubelet/main.ts --kubeconfig FILE --node NAME --system-uuid ID --host-root DIR [options]

  --kubeconfig FILE     the API server and the identity
  --node NAME           name of the Node
  --system-uuid ID      status.nodeInfo.systemUUID, the id of its OpenStack server
  --host-root DIR       directory that stands for the host's /
  --netns NAME          the host's network namespace, below /run/netns (needs root); without it Pods run
                        in this process's own
  --internal-ip IP      address of the Node (default: the host's address towards its default route)
  --help                this text

Prints one JSON line when the Node is Ready and runs until SIGTERM or Ctrl-C; then its Pods are stopped.
Exit codes: 0 stopped, 1 the API server cannot be reached, 2 wrong arguments, 3 not root.
`;

const options = {
  kubeconfig: { type: 'string' },
  node: { type: 'string' },
  'system-uuid': { type: 'string' },
  'host-root': { type: 'string' },
  netns: { type: 'string' },
  'internal-ip': { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

class UsageError extends Error {
  override readonly name = 'UsageError';
}

function readArguments(argv: readonly string[]) {
  const { values } = parseArgs({ args: [...argv], options });
  if (values.help) return 'help';
  const required = (name: 'kubeconfig' | 'node' | 'system-uuid' | 'host-root'): string => {
    const value = values[name];
    if (!value) throw new UsageError(`--${name} is missing; --help tells what it is`);
    return value;
  };
  const { netns, 'internal-ip': internalIp } = values;
  const host = { root: required('host-root'), ...(netns === undefined ? {} : { netns }) };
  return {
    kubeconfig: required('kubeconfig'),
    node: {
      name: required('node'),
      systemUUID: required('system-uuid'),
      host,
      ...(internalIp === undefined ? {} : { internalIp }),
    },
  };
}

async function main(): Promise<number> {
  const wanted = readArguments(process.argv.slice(2));
  if (wanted === 'help') {
    process.stdout.write(help);
    return 0;
  }
  if (wanted.node.host.netns !== undefined && process.getuid?.() !== 0) {
    process.stderr.write('kubelet: entering a network namespace needs root: run it with sudo.\n');
    return 3;
  }
  const stop = new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  await using kubelet = await startKubelet({
    access: await loadKubeconfig(wanted.kubeconfig),
    node: wanted.node,
    directory: await mkdtemp(join(tmpdir(), `multinic-kubelet-${wanted.node.name}-`)),
    log: (message, about) => {
      const cause = about instanceof Error ? `: ${about.message}` : '';
      process.stderr.write(`kubelet: ${message}${cause}\n`);
    },
  });
  process.stdout.write(`${JSON.stringify({ ready: true, node: wanted.node.name })}\n`);
  await stop;
  await kubelet.close();
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`kubelet: ${error instanceof Error ? error.message : String(error)}\n`);
  const isUsage = error instanceof UsageError || error instanceof TypeError;
  process.exitCode = isUsage ? 2 : 1;
}
