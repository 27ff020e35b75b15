import { boolean } from '../../../process/setting-schemas.ts';
import { setting } from '../../../process/settings.ts';

/** Settings of OpenStack notifications; Contrabass names the broker. */
export const notificationSettings = {
  notifications: setting({
    env: ['OPENSTACK_NOTIFICATIONS'],
    flag: 'openstack-notifications',
    schema: boolean().prefault('true'),
    description:
      'true: read notifications from the message queue that Contrabass names. false, or while the queue does not answer: polling alone finds changes.',
  }),
};
