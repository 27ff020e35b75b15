import type { Scenario } from '../scenario.ts';

/** Kinds, charts, images, secrets. */
export const delivery: readonly Scenario[] = [
  {
    id: 'RW-70',
    field: 'A malformed definition of the kind was shipped, five times.',
    by: 'delivery',
    holds:
      'A current API server takes the definitions without a warning, and the objects of their users.',
  },
  {
    id: 'RW-71',
    field:
      'Fields of the status that the schema did not have were dropped, with a warning for each.',
    by: 'controller',
    holds: 'A controller does not work with a definition that lacks fields which it writes.',
  },
  {
    id: 'RW-72',
    field: 'A hook that updated definitions locked installations up, or deleted what it updated.',
    by: 'delivery',
    holds: 'Definitions are plain objects of the chart, and an upgrade changes no NIC.',
  },
  {
    id: 'RW-73',
    field: 'A script deleted a definition and with it every object, and every network.',
    by: 'controller',
    holds:
      'Objects that go with their definition, or many at once, take no NIC along until somebody agrees.',
  },
  {
    id: 'RW-74',
    field: 'A field of the status was an object once and a list later, under one version.',
    by: 'controller',
    holds: 'A status of any form is replaced by a right one.',
  },
  {
    id: 'RW-75',
    field: 'A value was quoted twice and silently became the default.',
    by: 'delivery',
    holds: 'A value arrives as it was set; one that cannot be used is named at the start.',
  },
  {
    id: 'RW-76',
    field: 'Only the controller had the secret for its registry.',
    by: 'delivery',
    holds: 'Agents are pulled with the same secrets, or with their own.',
  },
  {
    id: 'RW-77',
    field: 'Images did not reach the nodes of sites without a network.',
    by: 'delivery',
    holds:
      'One file has all that a site needs, and a node loads its images from it and keeps them.',
  },
  {
    id: 'RW-78',
    field: 'Templates broke on values that were not set, and some values never arrived.',
    by: 'delivery',
    holds: 'A chart needs no value, and each of its settings arrives, false too.',
  },
  {
    id: 'RW-79',
    field: 'Passwords were committed.',
    by: 'delivery',
    holds: 'No file of the tree has a key, a token or a password of anybody.',
  },
];
