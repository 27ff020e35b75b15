import { expect, vi } from 'vitest';
import type { Node, NodeProfile } from '../../../rig/control-plane/node.ts';
import { type NicsState, type Shown, stateOf } from '../distros/nic-state.ts';
import { generous } from './acts.ts';
import { type KernelState, ourState } from './kernel-state.ts';

/** A manager of a node's network, with its files and its commands. */
export interface Manager {
  readonly name: string;
  readonly profile: NodeProfile;
  /** Folder of its files. The agent's Pod mounts no folder of another manager. */
  readonly folder: string;
  /** File of the NIC multinic0. */
  readonly file: string;
  /** Reads our NICs in a form that is the same whether the agent or the manager configured them. */
  readonly nicsOf: (node: Node) => Promise<KernelState | NicsState>;
  /** Resolves when the manager has configured eth0 after a start. */
  readonly untilManaged: (node: Node) => Promise<void>;
  /** Starts and restarts that must leave every NIC unchanged. */
  readonly restarts: Readonly<Record<string, (node: Node) => Promise<unknown>>>;
}

const reboot = (node: Node) => node.reboot();

const netplan: Manager = {
  name: 'netplan',
  profile: 'netplan',
  folder: '/etc/netplan',
  file: '/etc/netplan/90-multinic0.yaml',
  nicsOf: ourState,
  untilManaged: async () => undefined,
  restarts: {
    'a reboot': reboot,
    async 'a power cut'(node) {
      await node.cut();
      await node.start();
    },
  },
};

const networkManager: Manager = {
  name: 'NetworkManager',
  profile: 'keyfile',
  folder: '/etc/NetworkManager/system-connections',
  file: '/etc/NetworkManager/system-connections/90-multinic0.nmconnection',
  nicsOf: (node) =>
    stateOf({
      sh: (...command) => node.sh(command),
      async json(...args) {
        const all = JSON.parse(await node.sh(['ip', '-j', ...args])) as Shown[];
        // The foreign state has a link of this name, which no start of the node brings back.
        return all.filter(({ ifname }) => ifname !== 'multinic9');
      },
    }),
  async untilManaged(node) {
    const device = ['nmcli', '-g', 'GENERAL.STATE', 'device', 'show', 'eth0'];
    await vi.waitFor(
      async () => expect(await node.sh(device)).toContain('100 (connected)'),
      generous,
    );
  },
  restarts: {
    async 'a reboot'(node) {
      await node.reboot();
      const active = ['nmcli', '-g', 'GENERAL.CONNECTION', 'device', 'show', 'multinic0'];
      await vi.waitFor(async () => expect(await node.sh(active)).toBe('multinic0\n'), generous);
    },
    'a restart of NetworkManager': (node) => node.sh(['systemctl', 'restart', 'NetworkManager']),
  },
};

export const managers: readonly Manager[] = [netplan, networkManager];
