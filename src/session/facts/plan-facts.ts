import { type PlanView, planView, readPaths } from '../../api/read-http.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import type { Fact } from '../../explain/fact.ts';
import type { Session } from '../access/session.ts';
import { aboutOperator, unlessAbsent } from './operator-facts.ts';
import { factOf } from './unread.ts';

/** Reads the plan of an OpenstackConfig's last sync; undefined: not planned since the operator leads. */
export function readLastPlan(session: Session, key: string): Promise<Fact<PlanView | undefined>> {
  const about = aboutOperator(session, filled(accessTexts.planOf, { config: key }));
  return factOf(session, about, async () =>
    unlessAbsent('NotPlannedYet', async () =>
      (await session.operator()).get(planPath(key), planView),
    ),
  );
}

function planPath(key: string): string {
  return [readPaths.plan, ...key.split('/').map(encodeURIComponent)].join('/');
}
