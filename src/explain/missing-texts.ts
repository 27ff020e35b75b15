import type { Wording } from '../api/texts/text.ts';
import { say } from './wording.ts';

/** Cause: the command has no connection to the cluster. */
export const noAccess = say('no access', '접근할 수 없습니다');

/** Returns the next step for a business cluster without a context. */
export function addContext(provider: string): Wording {
  const option = `--business-context ${provider}=CONTEXT`;
  return say(`add ${option}`, `${option} 옵션을 추가하십시오`);
}
