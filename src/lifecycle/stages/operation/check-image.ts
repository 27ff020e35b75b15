import type { DatabaseWanted } from '../../model/accepted.ts';
import { databasePod } from '../../model/mariadb/pod-state.ts';
import type { Observed } from '../../model/stage.ts';
import { type JobSpec, workJobSpec } from '../backup/work-job.ts';
import { number, programs, refuse } from '../database/prepare-data.ts';
import { server } from '../database/stateful-set.ts';

/** Seconds for image pull and check. */
const deadlineSeconds = 900;

/** Checks an image's programs, and the Pod's options against the server. */
export const checkImage = String.raw`set -eu
${refuse}
${number}
${programs}
"$@" --help --verbose >/dev/null 2>/tmp/options.log ||
  refuse 1 "mariadbd of the image does not accept the options of the Pod: $(grep -i error /tmp/options.log | head -n 2 | tr '\n' ' ')"
echo "{\"version\": \"$(mariadbd --no-defaults --version | number)\"}" >/dev/termination-log
`;

/** Returns the Job spec: the database's node pulls and tries the image. */
export function checkJobSpec(
  observed: Observed,
  { resources }: DatabaseWanted,
  image: string,
): JobSpec {
  const node = databasePod(observed)?.spec?.nodeName;
  return workJobSpec(observed, {
    deadlineSeconds,
    resources,
    container: { image, command: ['sh', '-c', checkImage, 'check', ...server] },
    ...(node === undefined ? {} : { affinity: { nodeAffinity: onNode(node) } }),
  });
}

function onNode(node: string) {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  return {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
  };
}
