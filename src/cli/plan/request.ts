import { type PlanView, planView, readPaths } from '../../api/read-http.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import { ApiError } from '../../session/access/api-error.ts';
import type { Session } from '../../session/access/session.ts';
import type { ConfigObject } from '../../session/facts/kinds.ts';
import { aboutOperator } from '../../session/facts/operator-facts.ts';
import { required } from '../../session/facts/required.ts';
import { factOf } from '../../session/facts/unread.ts';
import { Refusal } from '../refusal.ts';
import type { Run } from '../run-command.ts';
import { keyOf } from '../sync/config-requests.ts';
import type { Edit } from './edit.ts';

/** Returns the what-if; a caller without the verb `plan` gets the plan of the last sync. */
export async function planOf(
  { session }: Run,
  config: ConfigObject,
  edit: Edit,
): Promise<PlanView> {
  const what = filled(accessTexts.planOf, { config: keyOf(config) });
  const read = () => requestPlan(session, config, edit);
  return required(await factOf(session, aboutOperator(session, what), read));
}

async function requestPlan(session: Session, config: ConfigObject, edit: Edit): Promise<PlanView> {
  const { namespace = '', name } = config.metadata;
  const path = `${readPaths.plan}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const api = await session.operator();
  try {
    return await api.post(path, edit, planView);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 403 && Object.keys(edit).length === 0) {
      console.error('This token may not plan (verb plan): this is the plan of the last sync.');
      return api.get(path, planView);
    }
    throw refusalOf(error, keyOf(config));
  }
}

function refusalOf(error: ApiError, config: string): Error {
  if (error.status === 422) {
    return new Refusal(
      `the operator refuses the edit: ${error.message}`,
      'correct the field, and plan again',
    );
  }
  if (error.status === 429) {
    return new Refusal(
      `another what-if runs for the cloud of ${config}: ${error.message}`,
      'try again in some seconds',
    );
  }
  return error;
}
