import {
  type MultiNicOperatorSpec,
  type MultiNicOperatorStatus,
  multiNicOperatorSpec,
  multiNicOperatorStatus,
} from '../../api/multinicoperator.ts';
import type { Fact } from '../../explain/fact.ts';
import { same } from '../../explain/wording.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { grantView } from '../access/grants.ts';
import type { Session } from '../access/session.ts';
import { multiNicOperators } from './kinds.ts';
import { factOf } from './unread.ts';

/** A MultiNicOperator; unreadable fields are absent. */
export interface MultiNicOperator {
  readonly metadata: KubeObject['metadata'];
  readonly spec: Partial<MultiNicOperatorSpec>;
  readonly status: MultiNicOperatorStatus;
}

/** Reads the MultiNicOperators of all namespaces; none without the kind, as in an installation by the chart alone. */
export function readMultiNicOperators(session: Session): Promise<Fact<MultiNicOperator[]>> {
  const about = {
    what: same('MultiNicOperators'),
    source: 'management cluster' as const,
    isOptional: true,
    grant: grantView(undefined),
  };
  return factOf(session, about, async () => {
    const client = await session.management();
    const { signal } = session;
    const items = await unlessNotServed(async () => client.listAll(multiNicOperators, { signal }));
    return items.map(({ metadata, spec, status }) => ({
      metadata,
      spec: multiNicOperatorSpec.safeParse(spec).data ?? {},
      status: multiNicOperatorStatus.safeParse(status).data ?? {},
    }));
  });
}

async function unlessNotServed<T>(
  read: () => Promise<{ readonly items: readonly T[] }>,
): Promise<readonly T[]> {
  try {
    return (await read()).items;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return [];
    throw error;
  }
}

/** Returns the mode of the sync trigger; undefined: unread, or no MultiNicOperator sets the mode. */
export function triggerModeOf(operators: Fact<readonly MultiNicOperator[]>): string | undefined {
  const all = operators.state === 'read' ? operators.value : [];
  const [operator] = all;
  if (!operator || all.length > 1) return undefined;
  return operator.spec.reconcileTrigger?.mode ?? 'immediate';
}
