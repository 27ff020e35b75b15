import { expect, vi } from 'vitest';
import * as z from 'zod';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { multiNicOperatorStatus } from '../../../src/api/multinicoperator.ts';
import { namespace } from '../../fixtures/e2e/ground.ts';
import type { LifecycleClusters } from './world.ts';

export const operatorName = 'production-system';
export const patient = { timeout: 180_000, interval: 1_000 };
const inNamespace = ['-n', namespace];

const path = `/apis/multinic.example.com/v1alpha1/namespaces/${namespace}/multinicoperators/${operatorName}`;
const operatorObject = z.object({ status: multiNicOperatorStatus.default({}) });

/** Status of the MultiNicOperator; undefined: deleted. */
export async function statusOf(management: ControlPlane) {
  const object = await management.read(path);
  return operatorObject.optional().parse(object)?.status;
}

export async function untilStatus(
  { management }: Pick<LifecycleClusters, 'management'>,
  wanted: Readonly<Record<string, unknown>>,
): Promise<void> {
  await vi.waitFor(async () => expect(await statusOf(management)).toMatchObject(wanted), patient);
}

/** Changes an annotation on the MultiNicOperator. */
export async function annotate(
  { management }: Pick<LifecycleClusters, 'management'>,
  annotation: string,
): Promise<void> {
  const object = [...inNamespace, 'multinicoperator', operatorName];
  await management.kubectl(['annotate', '--overwrite', ...object, annotation]);
}

/** kubectl in lifecycle's namespace. */
export async function kubectl(
  { management }: Pick<LifecycleClusters, 'management'>,
  ...args: readonly string[]
): Promise<string> {
  return management.kubectl([...inNamespace, ...args]);
}

/** Resolves to kubectl's error message; throws when the command succeeds. */
async function refused(
  world: Pick<LifecycleClusters, 'management'>,
  ...args: readonly string[]
): Promise<string> {
  try {
    const done = await kubectl(world, ...args);
    throw new Error(`kubectl ${args.join(' ')} was not refused: ${done}`);
  } catch (error) {
    const text = String(error);
    if (text.includes('was not refused')) throw error;
    return text;
  }
}

/** Sets images until the webhook denies it. Returns the number of late answers: the webhook may count these, too. */
export async function deniedImage(
  world: Pick<LifecycleClusters, 'management'>,
  image: string,
): Promise<number> {
  for (let late = 0; late < 4; late++) {
    const said = await refused(world, 'set', 'image', 'deployment/multinic-controller', image);
    if (said.includes('context deadline exceeded')) continue;
    expect(said).toContain(
      'admission webhook "vprotection.multinic.example.com" denied the request',
    );
    return late;
  }
  throw new Error('the webhook does not answer in time');
}

/** Elapsed seconds, for the test's output. */
export function secondsSince(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

const pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), uid: z.string() }),
      status: z.object({
        containerStatuses: z
          .array(z.object({ restartCount: z.int(), containerID: z.string().optional() }))
          .default([]),
      }),
    }),
  ),
});

/** uid and restart count by Pod name. */
export async function podsOf(
  world: Pick<LifecycleClusters, 'management'>,
  selector: string,
): Promise<Readonly<Record<string, string>>> {
  const text = await kubectl(world, 'get', 'pods', '-l', selector, '-o', 'json');
  return Object.fromEntries(
    pods.parse(JSON.parse(text)).items.map(({ metadata, status }) => {
      const restarts = status.containerStatuses.map(({ restartCount }) => restartCount).join();
      return [metadata.name, `${metadata.uid} ${restarts}`];
    }),
  );
}

/** Names of all agent Jobs in the business cluster. */
export async function agentJobs({
  business,
}: Pick<LifecycleClusters, 'business'>): Promise<string[]> {
  const text = await business.kubectl(['-n', 'multinic-agents', 'get', 'jobs', '-o', 'name']);
  return text.split('\n').filter(Boolean).toSorted();
}

/** NICs that the inventory in MariaDB has, as `node port MAC`. */
export async function inventoryRows(world: LifecycleClusters): Promise<string> {
  const query =
    'SELECT attached_node_name, port_id, macaddress FROM multi_interface WHERE deleted_at IS NULL ORDER BY port_id';
  const login = ['--defaults-file=/etc/multinic/client.cnf', '--protocol=tcp', '--host=127.0.0.1'];
  const client = ['mariadb', ...login, '--batch', '--skip-column-names', 'multinic', '-e', query];
  return kubectl(world, 'exec', 'mariadb-0', '-c', 'mariadb', '--', ...client);
}

/** SQL over the socket of MariaDB as root, with the present password. */
export async function rootSql(
  world: Pick<LifecycleClusters, 'management'>,
  statement: string,
): Promise<string> {
  const key = 'jsonpath={.data.rootPassword}';
  const text = await kubectl(world, 'get', 'secret', 'mariadb-credentials', '-o', key);
  const password = Buffer.from(text.trim(), 'base64').toString('utf8');
  const client = ['mariadb', '--user=root', `--password=${password}`, '--batch'];
  const command = [...client, '--skip-column-names', 'multinic', '-e', statement];
  return kubectl(world, 'exec', 'mariadb-0', '-c', 'mariadb', '--', ...command);
}
