import { settingsOfParts } from '../../settings-of-parts.ts';
import { flag, group, whole } from './describe.ts';
import { resources } from './kubernetes.ts';
import { heap, image, podValues } from './pod.ts';
import { settingValues } from './settings.ts';

/** Values for the part that installs the operator and MariaDB from a MultiNicOperator. */
export const lifecycle = group(
  'Lifecycle: installs, recovers and protects the operator and MariaDB, as a MultiNicOperator says.',
  {
    enabled: flag(
      false,
      'true: the chart installs lifecycle, Viola, accounts and roles; the operator starts when a MultiNicOperator exists in the namespace of the release.',
    ),
    replicas: whole(1, 0, 5, 'One installs and recovers; all serve the admission webhook.'),
    image: image('multinic-controllers', 'lifecycle'),
    heap: heap('lifecycle'),
    resources: resources(
      { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '224Mi' } },
      'What a Pod is given. No limit of CPU: the webhook would answer late.',
    ),
    settings: settingValues(settingsOfParts.lifecycle, {
      description: 'Settings of lifecycle by name; see docs/reference/values-operator.md.',
      decided: {
        namespace: 'that of the release',
        serviceAccount: 'multinic-operator',
      },
    }),
    ...podValues(),
  },
);
