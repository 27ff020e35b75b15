import * as z from 'zod';
import { boolean } from '../../process/setting-schemas.ts';
import { setting } from '../../process/settings.ts';

/** Settings of broker Secrets, for use by other programs. */
export const brokerSecretSettings = {
  rabbitmqSecrets: setting({
    env: ['RABBITMQ_SECRETS'],
    flag: 'rabbitmq-secrets',
    schema: z.string().default('false').pipe(boolean()),
    description:
      'true: write what Contrabass says of the message queue into the Secret rabbitmq-NAME beside each OpenstackConfig; default false, because that takes the right to write Secrets there',
  }),
};
