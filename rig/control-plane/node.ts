import { join } from 'node:path';
import { runScript } from '../hosts/box/script.ts';
import type { ControlPlane } from './control-plane.ts';

export type NodeProfile = 'netplan' | 'networkd' | 'keyfile';

export interface NodeOptions {
  /** namespace: a set of namespaces of this machine. box: a machine with systemd and udev. */
  readonly kind: 'namespace' | 'box';
  /** Who manages the network of a box: netplan, networkd alone, or NetworkManager with keyfiles; default: netplan. */
  readonly profile?: NodeProfile;
  /** Becomes `status.nodeInfo.systemUUID`; default: a constant one made from the names. */
  readonly systemUUID?: string;
}

/** A node with a real kubelet and containerd. */
export interface Node extends AsyncDisposable {
  readonly name: string;
  readonly kind: NodeOptions['kind'];
  readonly profile: NodeProfile;
  /** Network namespace of the node; that of a box is made anew at every boot. */
  readonly netns: string;
  /** Network namespace behind the plugged NICs; give its bridge br0 an address and they have somebody to talk to. */
  readonly fabric: string;
  /** Runs a command inside and returns its standard output. */
  sh(command: readonly string[], stdin?: string): Promise<string>;
  plug(nic: string, mac: string): Promise<void>;
  unplug(nic: string): Promise<void>;
  /** Imports an image archive under its own name; use it with `imagePullPolicy: Never` or `IfNotPresent`. */
  importImage(archive: string): Promise<void>;
  /** Imports it as if it came from a registry: Pods may ask for it by digest too, and show that as their imageID. */
  importImageWithDigest(archive: string): Promise<void>;
  /** Makes a folder of the node a PersistentVolume of 100 Gi for any claim. */
  makeVolume(volume: string): Promise<void>;
  /** Restarts the kubelet alone and waits until its successor reports Ready. */
  restartKubelet(): Promise<void>;
  /** Orderly reboot of a box, until it reports Ready by itself. */
  reboot(): Promise<void>;
  /** Power cut of a box. */
  cut(): Promise<void>;
  /** Boots a box after `cut`, until it reports Ready. */
  start(): Promise<void>;
  /** Removes everything of it; may be called again. */
  down(): Promise<void>;
}

const script = join(import.meta.dirname, 'node');

/** Starts a node of the control plane and waits until it is Ready. `controlPlane.down` takes it along. */
export async function startNode(
  controlPlane: Pick<ControlPlane, 'name'>,
  name: string,
  { kind, profile = 'netplan', systemUUID }: NodeOptions,
): Promise<Node> {
  const run = async (verb: string, ...args: readonly string[]) =>
    void (await runScript(script, [verb, controlPlane.name, name, ...args]));
  const down = async () => run('down');
  const uuid = systemUUID === undefined ? [] : ['--system-uuid', systemUUID];
  try {
    await run('up', '--kind', kind, '--profile', profile, ...uuid);
  } catch (cause) {
    await down();
    throw cause;
  }
  const netns =
    kind === 'box' ? `box-${controlPlane.name}-${name}` : `node-${controlPlane.name}.${name}`;
  return {
    name,
    kind,
    profile,
    netns,
    fabric: `${netns}.fabric`,
    async sh(command, stdin = '') {
      return runScript(script, ['sh', controlPlane.name, name, ...command], { stdin });
    },
    plug: async (nic, mac) => run('plug', nic, mac),
    unplug: async (nic) => run('unplug', nic),
    importImage: async (archive) => run('image', archive),
    importImageWithDigest: async (archive) => run('image', archive, '--digest'),
    makeVolume: async (volume) => run('volume', volume),
    restartKubelet: async () => run('restart'),
    reboot: async () => run('reboot'),
    cut: async () => run('cut'),
    start: async () => run('start'),
    down,
    [Symbol.asyncDispose]: down,
  };
}
