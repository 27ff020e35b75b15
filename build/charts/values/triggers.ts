import { triggerConfig } from '../../../src/api/trigger-config.ts';
import { group, objectName, text } from './describe.ts';

// Values for sync triggers: schedule, endpoint, and allowed callers.

const { mode, interval, schedule, timezone, immediateOnCRChange } = triggerConfig.shape;

export const trigger = group(
  'When OpenstackConfigs are looked at: the ConfigMap multinic-operator-triggers. See docs/guides/triggers.md.',
  {
    mode: mode
      .unwrap()
      .describe(`${mode.description} Default: no ConfigMap is made; without one it is immediate.`)
      .optional(),
    interval,
    schedule,
    timezone,
    immediateOnCRChange,
    endpoint: group('The trigger endpoint, port 18082; without tokens and keys there is none.', {
      tokensSecret: objectName()
        .describe(
          'Who may call it with a token: Secret whose keys *.yaml are lists of {name, sha256, providers, verbs}.',
        )
        .optional(),
      keysSecret: objectName()
        .describe('Secret with the keys that calls are signed with.')
        .optional(),
      keysKey: text().describe('Its key; each line of its text is one.').default('keys'),
      tlsSecret: objectName()
        .describe(
          'Its certificate: Secret of type kubernetes.io/tls. Default: plain HTTP, for a gateway that ends TLS before it.',
        )
        .optional(),
    }),
  },
);
