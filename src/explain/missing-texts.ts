import { doctorTexts } from '../api/texts/doctor.ts';
import { filled, type Wording } from '../api/texts/text.ts';

/** Cause: the command has no connection to the cluster. */
export const noAccess = doctorTexts.noAccess;

/** Returns the next step for a business cluster without a context. */
export function addContext(provider: string): Wording {
  const option = `--business-context ${provider}=CONTEXT`;
  return filled(doctorTexts.addOption, { option });
}
