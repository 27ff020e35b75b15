import * as z from 'zod';
import { boolean, nonBlank } from '../../process/setting-schemas.ts';
import { setting } from '../../process/settings.ts';

/** Settings of OpenStack notifications; Contrabass names the broker. */
export const notificationSettings = {
  notifications: setting({
    env: ['OPENSTACK_NOTIFICATIONS'],
    flag: 'openstack-notifications',
    schema: z.string().default('true').pipe(boolean()),
    description:
      'false: do not listen to the message queue that Contrabass names; changes are found by polling alone',
  }),
  notificationsVirtualHost: setting({
    env: ['OPENSTACK_NOTIFICATIONS_VHOST'],
    flag: 'openstack-notifications-vhost',
    schema: nonBlank().default('/'),
    description: 'virtual host of RabbitMQ in which Neutron publishes its notifications, default /',
  }),
};
