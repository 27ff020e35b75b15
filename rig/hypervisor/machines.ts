import { runScript } from '../hosts/box/script.ts';
import { existingHost } from '../hosts/namespace/host.ts';
import type { Machine } from './hypervisor.ts';

const nodeScript = new URL('../control-plane/node', import.meta.url).pathname;

/** A host made of namespaces, by its name. */
export function hostMachine(name: string): Machine {
  const host = existingHost(name);
  return {
    plug: async ({ nic, mac }) => host.plug(nic, mac),
    unplug: async ({ mac }) => host.unplug(mac),
  };
}

/** A node of one of our control planes, of either kind. */
export function nodeMachine(controlPlane: string, node: string): Machine {
  return {
    plug: async ({ nic, mac }) => {
      await runScript(nodeScript, ['plug', controlPlane, node, nic, mac]);
    },
    unplug: async ({ nic }) => {
      await runScript(nodeScript, ['unplug', controlPlane, node, nic]);
    },
  };
}

/** The machine that `host:NAME` or `node:CONTROL-PLANE/NODE` names. */
export function machineOf(text: string): Machine {
  const host = /^host:(\S+)$/.exec(text)?.[1];
  if (host !== undefined) return hostMachine(host);
  const [, controlPlane, node] = /^node:([^/\s]+)\/([^/\s]+)$/.exec(text) ?? [];
  if (controlPlane !== undefined && node !== undefined) return nodeMachine(controlPlane, node);
  throw new Error(`"${text}" is no machine: write host:NAME or node:CONTROL-PLANE/NODE`);
}
