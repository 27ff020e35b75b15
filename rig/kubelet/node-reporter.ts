import type { KubeClient } from '../../src/kube/client/client.ts';
import { nodes } from '../../src/kube/core-resources.ts';
import type { Clock } from '../../src/time/clock.ts';
import { type NodeFacts, nodeObject, nodeStatus } from './node-object.ts';

export interface NodeReporter {
  register(): Promise<void>;
  report(): Promise<void>;
  setReady(ready: boolean): Promise<void>;
  reboot(): Promise<void>;
}

type Identity = Pick<NodeFacts, 'name' | 'systemUUID' | 'internalIp' | 'osImage'> & {
  /** Read at each report: a machine that was rebuilt in place has another one. */
  readonly readMachineId: () => Promise<string>;
};

/** Tells the API about the Node; each call is one write. */
export function createNodeReporter(
  client: Pick<KubeClient, 'apply' | 'applyStatus'>,
  clock: Clock,
  { name, systemUUID, internalIp, osImage, readMachineId }: Identity,
): NodeReporter {
  const options = { fieldManager: 'kubelet', force: true };
  const now = (): string => `${clock.now().toISOString().slice(0, 19)}Z`;
  let bootId: string = crypto.randomUUID();
  let ready = true;
  let since = now();

  const facts = async (): Promise<NodeFacts> => ({
    name,
    systemUUID,
    internalIp,
    osImage,
    bootId,
    machineId: await readMachineId(),
    ready,
    since,
    now: now(),
  });
  async function report(): Promise<void> {
    await client.applyStatus(nodes, nodeStatus(await facts()), options);
  }
  return {
    report,
    async register() {
      await client.apply(nodes, nodeObject(await facts()), options);
      await report();
    },
    async setReady(value) {
      if (value !== ready) since = now();
      ready = value;
      await report();
    },
    async reboot() {
      bootId = crypto.randomUUID();
      await report();
    },
  };
}
