import { logLevels } from './log.ts';
import { oneOf } from './setting-schemas.ts';
import { setting } from './settings.ts';

/** What every part can be told. */
export const commonSettings = {
  logLevel: setting({
    env: ['LOG_LEVEL'],
    flag: 'log-level',
    schema: oneOf(logLevels).prefault('info'),
    description: `how much is logged: ${logLevels.join(', ')}; default info`,
  }),
};
