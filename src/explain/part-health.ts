import { doctorTexts } from '../api/texts/doctor.ts';
import { filled, type Wording } from '../api/texts/text.ts';
import type { PartHealth, PodNotStarted } from './facts.ts';
import { joined, same } from './wording.ts';

/** Returns why a part does not run as expected, with waiting Pods; undefined: healthy. */
export function problemOf(health: PartHealth): Wording | undefined {
  const { installed, problem, notStarted = [] } = health;
  if (installed === 'None') {
    return { ...doctorTexts.notInstalled, ...(problem === undefined ? {} : { en: problem }) };
  }
  const problems = [...stateOf(health), ...notStarted.map(textOf)];
  return problems.length > 0 ? joined(problems) : undefined;
}

/** Returns the part's result; a Pod without start fails no rollout within its deadline. A second operator is a failure. */
export function resultOf(health: PartHealth): 'ok' | 'warn' | 'fail' {
  if (health.homes !== undefined) return 'fail';
  if (problemOf(health) === undefined) return 'ok';
  return health.isUpdating && stateText(health) === undefined ? 'warn' : 'fail';
}

/** Returns a problem without Pods; undefined: none. */
export function stateText(health: PartHealth): Wording | undefined {
  return health.installed === 'None' ? doctorTexts.notInstalledShort : stateOf(health)[0];
}

function stateOf({ problem, part, leader, replicas, installed }: PartHealth) {
  // A process outside the cluster has no Deployment with replicas.
  if (replicas === 0 && installed !== 'Process') return [doctorTexts.scaledToZero];
  if (problem !== undefined) return [same(problem)];
  const hasNone = part === 'operator' && leader === undefined;
  return hasNone ? [doctorTexts.noReplicaLeads] : [];
}

function textOf({ pod, reason, image, message }: PodNotStarted): Wording {
  return filled(doctorTexts.podNotStarted, {
    pod,
    reason,
    image: image === undefined ? same('') : filled(doctorTexts.ofImage, { image }),
    message: message === undefined ? '' : `: ${message}`,
  });
}
