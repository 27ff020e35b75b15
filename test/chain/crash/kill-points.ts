import { basename } from 'node:path';
import { type Effect, effects } from '../../../src/api/effects.ts';

export type Part = 'operator' | 'viola' | 'controller' | 'lifecycle' | 'agent';

/** One moment at which a part is killed; `id` is its name in every table. */
export interface KillPoint {
  readonly id: string;
  readonly part: Part;
  readonly effect: Effect;
  /** `NAME PHASE NUMBER`, or the number of the line within the agent's batch. */
  readonly at: string | number;
}

const phases = ['before', 'after'] as const;

/** How many changes the batch has that makes a NIC; a point behind its end is never hit, and says so. */
const batchLines = 8;

/** Effects that the life of a port does not have, and the test that kills parts at them. */
const killedElsewhere: Readonly<Partial<Record<Effect, string>>> = {
  // Of a host that NetworkManager manages.
  'agent.manager.release': 'test/host/leased.test.ts',
  ...Object.fromEntries(
    effects
      .filter((effect) => effect.startsWith('controller.biz-config.'))
      .map((effect) => [effect, 'src/controller/biz-config/kills.test.ts']),
  ),
};

/** Before and after each external write of the product, and before each operation of the batch that makes a NIC. */
export const killPoints: readonly KillPoint[] = [
  ...effects
    .filter((effect) => killedElsewhere[effect] === undefined)
    .flatMap((effect) => phases.map((phase) => pointOf(effect, phase))),
  ...Array.from({ length: batchLines }, (_, n): KillPoint => {
    const effect = 'agent.kernel.batch';
    return { id: `${effect} line ${n + 1}`, part: 'agent', effect, at: n + 1 };
  }),
];

/**
 * Test files of the kill points, by effect. Each file opens its own world and all of them run at once. The effects are
 * divided by duration: a killed operator waits up to 40 s (`postOverAfterMs`) before it releases a deleted OpenstackConfig,
 * and a successor waits for the lease.
 */
export const killFiles: Readonly<Record<string, readonly Effect[]>> = {
  'operator-delivery': ['operator.node-config.post', 'operator.node-config.delete'],
  'operator-inventory': ['operator.trigger.write', 'operator.inventory.write'],
  'operator-status': ['operator.status.write', 'operator.event.write', 'operator.finalizer.remove'],
  'operator-access': [
    'operator.finalizer.add',
    'operator.lease.write',
    'operator.broker-secret.write',
    'operator.viola-ca.write',
    'operator.viola-certificate.write',
    'operator.viola-token.write',
    'operator.viola-grants.write',
  ],
  controller: [
    'controller.finalizer.add',
    'controller.finalizer.remove',
    'controller.job.create',
    'controller.config-map.create',
    'controller.job.unsuspend',
    'controller.job.delete',
    'controller.status.write',
  ],
  'viola-controller': [
    'viola.node-config.apply',
    'viola.node-config.consent',
    'viola.node-config.delete',
    'viola.token.request',
    'viola.token.store',
    'controller.lease.write',
    'controller.event.write',
  ],
  'lifecycle-install': [
    'lifecycle.finalizer.add',
    'lifecycle.lease.write',
    'lifecycle.authority.write',
    'lifecycle.certificate.write',
    'lifecycle.object.apply',
    'lifecycle.legacy.scale',
  ],
  'lifecycle-change': [
    'lifecycle.status.write',
    'lifecycle.event.write',
    'lifecycle.job.create',
    'lifecycle.refusals.write',
    'lifecycle.object.delete',
    'lifecycle.finalizer.remove',
  ],
  agent: effects.filter((effect) => effect.startsWith('agent.')),
};

/** Returns the kill points of a test file, given its path. */
export function killPointsIn(path: string): readonly KillPoint[] {
  const name = basename(path, '.test.ts');
  const chosen = killFiles[name];
  if (!chosen) throw new Error(`"${name}" has no kill points in killFiles`);
  return killPoints.filter(({ effect }) => chosen.includes(effect));
}

/** The points of these names; each has to be in the list. */
export function killPointsAt(...ids: readonly string[]): readonly KillPoint[] {
  return ids.map((id) => {
    const point = killPoints.find((each) => each.id === id);
    if (!point) throw new Error(`"${id}" is in no kill list`);
    return point;
  });
}

function pointOf(effect: Effect, phase: (typeof phases)[number]): KillPoint {
  const [part] = effect.split('.') as [Part];
  return { id: `${effect} ${phase}`, part, effect, at: `${effect} ${phase} 1` };
}
