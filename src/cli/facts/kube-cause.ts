import { accessTexts } from '../../api/texts/access.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import type { KubeError } from '../../kube/errors.ts';

/** Returns why an API server gave no usable answer, without request paths and internal reasons. */
export function kubeCause({ status, message, reason }: KubeError): Wording {
  const text = message
    // kubectl proxy ends the cause of an unreachable server with a line break.
    .replaceAll(/\s+/g, ' ')
    .replace(/^(?:[A-Z]+ \/\S*|reading a \w+): /, '')
    .replace(/ \(\d+ \w+\)$/, '')
    .trim();
  if (status > 0) return filled(accessTexts.answered, { status, text });
  return reason === 'InvalidAnswer'
    ? filled(accessTexts.invalidAnswer, { text })
    : filled(accessTexts.noConnection, { text });
}
