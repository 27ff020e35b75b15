import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { configOf, generous } from './seen.ts';
import { legacyFolder, type Site, type Worker } from './site.ts';

/** Installs the deployed controller as its own documents say it. */
export async function installController(
  site: Site,
  release = 'multinic-agent',
  ...more: readonly string[]
): Promise<void> {
  const chart = join(legacyFolder, 'multinic-agent');
  const where = ['--namespace', 'multinic-system', '--create-namespace'];
  await site.helm('upgrade', '--install', release, chart, ...where, ...more);
  await site.cluster.kubectl(['wait', '--for=condition=Established', 'crd', '--all']);
}

/** What the deployed Viola applies for a worker with all its NICs, as it applies it. */
export function nodeConfigFor({ name, systemUuid, macs }: Omit<Worker, 'host'>): object {
  const host = Number(name.replace(/\D/g, ''));
  return {
    apiVersion: 'multinic.io/v1alpha1',
    kind: 'MultiNicNodeConfig',
    metadata: {
      name,
      namespace: 'multinic-system',
      labels: {
        'multinic.io/node-name': name,
        'multinic.io/instance-id': systemUuid,
        'multinic.io/provider-id': 'biz',
      },
    },
    spec: {
      nodeName: name,
      instanceId: systemUuid,
      interfaces: macs.map((macAddress, id) => ({
        id,
        name: `multinic${id}`,
        macAddress,
        address: `10.${id}.0.${10 + host}`,
        cidr: `10.${id}.0.0/16`,
        mtu: 1450,
      })),
    },
  };
}

export async function applyNodeConfig(site: Site, config: object): Promise<void> {
  await site.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(config));
}

export async function untilState(site: Site, worker: Worker, state: string): Promise<void> {
  await vi.waitFor(
    async () => expect((await configOf(site, worker)).status?.state).toBe(state),
    generous,
  );
}
