import type { PersistentVolumeClaim } from '../../../kube/core-resources.ts';
import { claims } from '../../../kube/core-resources.ts';
import type { Draft } from '../../../kube/object.ts';
import type { Problem } from '../../model/accepted.ts';
import { type Desired, desired, managedLabels } from '../../model/desired.ts';
import { parseQuantity } from '../../model/quantity.ts';
import type { Observed } from '../../model/stage.ts';

const databaseField = 'spec.database.storageSize';

export interface ClaimOptions {
  /** Annotations. */
  readonly notes?: Readonly<Record<string, string>>;
  /** Field with the size. */
  readonly field?: string;
}

/** Returns a claim with this size, without an owner because data outlives the MultiNicOperator. */
export function claimOf(
  { operator, namespace }: Observed,
  name: string,
  size: string,
  { notes = {}, field = databaseField }: ClaimOptions = {},
): Desired {
  const object: Draft<PersistentVolumeClaim> = {
    metadata: {
      name,
      namespace,
      labels: managedLabels(operator),
      ...(Object.keys(notes).length === 0 ? {} : { annotations: notes }),
    },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
  };
  return {
    ...desired(claims, object),
    problemIfRefused: (message) => ({
      field,
      message: `${field} "${size}": the API server refuses claim ${name}: ${message}; set the former size, or let its StorageClass expand volumes (allowVolumeExpansion)`,
    }),
  };
}

/** Returns the size requested by a claim, in canonical form. */
export function requestedSize(live: PersistentVolumeClaim | undefined): string | undefined {
  return live?.spec?.resources?.requests?.['storage'];
}

/** Size for a claim, and why it differs from the desired size. */
export interface ClaimSize {
  readonly size: string;
  readonly problems: readonly Problem[];
}

/** Returns the desired size, or the present size with the obstacle: a wrong size stops only the claim's expansion. */
export function sizeFor(
  live: PersistentVolumeClaim | undefined,
  size: string,
  field = databaseField,
): ClaimSize {
  const problem = sizeProblem(live, size, field);
  return problem
    ? { size: requestedSize(live) ?? size, problems: [problem] }
    : { size, problems: [] };
}

function sizeProblem(
  live: PersistentVolumeClaim | undefined,
  size: string,
  field: string,
): Problem | undefined {
  const requested = requestedSize(live);
  if (requested !== undefined && isLess(size, requested)) {
    return {
      field,
      message: `${field} "${size}" is less than the ${requested} of claim ${live?.metadata.name}, and Kubernetes cannot shrink volumes; set ${requested} or more`,
    };
  }
  return resizeProblem(live, size, field);
}

/** Condition types by which a CSI resizer reports a failure. */
const resizeErrors = new Set(['ControllerResizeError', 'NodeResizeError']);

function resizeProblem(
  live: PersistentVolumeClaim | undefined,
  size: string,
  field: string,
): Problem | undefined {
  const failed = live?.status?.conditions?.find(
    ({ type, status }) => resizeErrors.has(type) && status === 'True',
  );
  if (!failed) return undefined;
  return {
    field,
    message: `${field} "${size}": claim ${live?.metadata.name} is not expanded: ${failed.message ?? failed.type}; see the events of the claim`,
  };
}

/** True if `size` is less than `other`; false if either is invalid. */
function isLess(size: string, other: string): boolean {
  const [one, two] = [parseQuantity(size), parseQuantity(other)];
  return one !== undefined && two !== undefined && one.nano < two.nano;
}
