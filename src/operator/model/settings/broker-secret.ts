import { boolean } from '../../../process/setting-schemas.ts';
import { setting } from '../../../process/settings.ts';

/** Settings of broker Secrets, for use by other programs. */
export const brokerSecretSettings = {
  rabbitmqSecrets: setting({
    env: ['RABBITMQ_SECRETS'],
    flag: 'rabbitmq-secrets',
    schema: boolean().prefault('false'),
    description:
      'true: write the message queue that Contrabass names into the Secret rabbitmq-NAME beside each OpenstackConfig. The operator then needs the right to write Secrets there; without it the Secret is missing and the log names the right.',
  }),
};
