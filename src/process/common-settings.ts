import { logLevels } from './log.ts';
import { boolean, oneOf } from './setting-schemas.ts';
import { setting } from './settings.ts';

/** Settings for every part. */
export const commonSettings = {
  logLevel: setting({
    env: ['LOG_LEVEL'],
    flag: 'log-level',
    schema: oneOf(logLevels).prefault('info'),
    description: `Lowest level that is logged: ${logLevels.join(', ')}. debug names every external write; silent hides errors.`,
  }),
  selfCheck: setting({
    env: ['SELF_CHECK'],
    flag: 'self-check',
    schema: boolean().prefault('true'),
    description:
      'true: check for missing rights and outdated CRDs, at the start and every 10 minutes. false: a missing right or an outdated CRD shows only when a call fails.',
  }),
};
