import { jobFiles } from '../../src/api/job.ts';
import type { PodSpec } from './pod.ts';

type Container = PodSpec['containers'][number];

/** Pod without one right, and the right's name in the agent's message. */
export interface PodLess {
  readonly spec: PodSpec;
  readonly named: string;
}

/** Returns the Pod without each right in turn, by a description of the missing right. */
export function podsLess(spec: PodSpec): ReadonlyMap<string, PodLess> {
  const [agent] = spec.containers;
  if (!agent) throw new Error('the Pod has no container');
  const withAgent = (change: Partial<Container>): PodSpec => ({
    ...spec,
    containers: [{ ...agent, ...change }],
  });
  const { securityContext } = agent;
  const secured = (change: object) =>
    withAgent({ securityContext: { ...securityContext, ...change } });
  const { add = [], ...capabilities } = securityContext?.capabilities ?? {};
  return new Map([
    ...lessMounts(agent, withAgent),
    ...add.map((named): [string, PodLess] => {
      const others = add.filter((one) => one !== named);
      const less = secured({ capabilities: { ...capabilities, add: others } });
      return [`${named} dropped`, { named, spec: less }];
    }),
    ['another user', { named: 'runAsUser 0', spec: secured({ runAsUser: 65_534 }) }],
    ['a network of its own', { named: 'hostNetwork', spec: { ...spec, hostNetwork: false } }],
  ]);
}

function lessMounts(
  { volumeMounts = [] }: Container,
  withAgent: (change: Partial<Container>) => PodSpec,
): [string, PodLess][] {
  return volumeMounts.flatMap((mount) => {
    const named = mount.mountPath.startsWith(`${jobFiles.hostRoot}/`)
      ? mount.mountPath.slice(jobFiles.hostRoot.length)
      : mount.mountPath;
    const others = volumeMounts.filter((one) => one !== mount);
    const absent = { named, spec: withAgent({ volumeMounts: others }) };
    const without: [string, PodLess] = [`${named} absent`, absent];
    if (mount.readOnly) return [without];
    const locked = {
      named,
      spec: withAgent({ volumeMounts: [...others, { ...mount, readOnly: true }] }),
    };
    return [without, [`${named} read-only`, locked]];
  });
}
