import { logLevels } from './log.ts';
import { boolean, oneOf } from './setting-schemas.ts';
import { setting } from './settings.ts';

/** Settings for every part. */
export const commonSettings = {
  logLevel: setting({
    env: ['LOG_LEVEL'],
    flag: 'log-level',
    schema: oneOf(logLevels).prefault('info'),
    description: `how much is logged: ${logLevels.join(', ')}; default info`,
  }),
  selfCheck: setting({
    env: ['SELF_CHECK'],
    flag: 'self-check',
    schema: boolean().prefault('true'),
    description:
      'false: do not ask the API server for rights and kinds that are missing, at the start and every 10 minutes',
  }),
};
