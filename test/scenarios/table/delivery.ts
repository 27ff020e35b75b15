import { proof, type Scenario } from '../scenario.ts';

const upgrade = 'test/e2e/upgrade.test.ts';
const settings = 'test/integration/charts/settings.test.ts';

/** Kinds, charts, images, secrets. */
export const delivery: readonly Scenario[] = [
  {
    id: 'RW-70',
    field: 'A malformed definition of the kind was shipped, five times.',
    by: 'delivery',
    holds:
      'A current API server takes the definitions without a warning, and the objects of their users.',
    proofs: [
      proof(
        'test/integration/crds.test.ts',
        'the CRDs on a current kube-apiserver > are accepted without a warning',
      ),
      proof(
        'test/integration/crds.test.ts',
        'the CRDs on a current kube-apiserver > accept an object of the deployed Viola, served in both versions',
      ),
    ],
  },
  {
    id: 'RW-71',
    field:
      'Fields of the status that the schema did not have were dropped, with a warning for each.',
    by: 'controller',
    holds: 'A controller does not work with a definition that lacks fields which it writes.',
    proofs: [
      proof(
        'src/controller/start.test.ts',
        'is not ready while its kind lacks fields that it writes',
      ),
      proof(
        'test/integration/crds.test.ts',
        'the CRDs on a current kube-apiserver > accept status in the form of the deployed controller',
      ),
    ],
  },
  {
    id: 'RW-72',
    field: 'A hook that updated definitions locked installations up, or deleted what it updated.',
    by: 'delivery',
    holds: 'Definitions are plain objects of the chart, and an upgrade changes no NIC.',
    proofs: [
      proof(
        'test/integration/charts/charts.test.ts',
        'the chart %s > installs its kind as it is, and keeps it',
      ),
      proof(upgrade, 'the next version changes no NIC and sends no agent'),
    ],
  },
  {
    id: 'RW-73',
    field: 'A script deleted a definition and with it every object, and every network.',
    by: 'controller',
    holds:
      'Objects that go with their definition, or many at once, take no NIC along until somebody agrees.',
    proofs: [
      proof(upgrade, 'definitions that are deleted first take no NIC along'),
      proof(
        'src/controller/deletion-guard.test.ts',
        'deletions > of many objects at once touch no node before somebody agrees',
      ),
    ],
  },
  {
    id: 'RW-74',
    field: 'A field of the status was an object once and a list later, under one version.',
    by: 'controller',
    holds: 'A status of any form is replaced by a right one.',
    proofs: [
      proof(
        'src/controller/status.test.ts',
        'statusPatch > rebuilds a status of a form that nobody knows',
      ),
    ],
  },
  {
    id: 'RW-75',
    field: 'A value was quoted twice and silently became the default.',
    by: 'delivery',
    holds: 'A value arrives as it was set; one that cannot be used is named at the start.',
    proofs: [
      proof(settings, 'the settings of %s > arrive all, as they were set'),
      proof('src/controller/start.test.ts', 'the settings > name every value that cannot be used'),
    ],
  },
  {
    id: 'RW-76',
    field: 'Only the controller had the secret for its registry.',
    by: 'delivery',
    holds: 'Agents are pulled with the same secrets, or with their own.',
    proofs: [
      proof(
        'src/controller/job.test.ts',
        'the Job of a run > pulls its image with the secrets of its registry',
      ),
      proof(
        'test/integration/charts/choices.test.ts',
        'the notes > name the Secrets of the registry that agents need, and where',
      ),
    ],
  },
  {
    id: 'RW-77',
    field: 'Images did not reach the nodes of sites without a network.',
    by: 'delivery',
    holds:
      'One file has all that a site needs, and a node loads its images from it and keeps them.',
    proofs: [
      proof(
        'test/integration/images.test.ts',
        'one file for a site without network > has images of which a node loads its own, and keeps them',
      ),
      proof(
        'test/e2e/guides.test.ts',
        'MultiNIC comes again from that file, without its history, and finds its NICs',
      ),
    ],
  },
  {
    id: 'RW-78',
    field: 'Templates broke on values that were not set, and some values never arrived.',
    by: 'delivery',
    holds: 'A chart needs no value, and each of its settings arrives, false too.',
    proofs: [
      proof(
        'test/integration/charts/charts.test.ts',
        '%s > is what its golden file says, at any time',
      ),
      proof(settings, 'the settings of %s > arrive all, as they were set'),
    ],
  },
  {
    id: 'RW-79',
    field: 'Passwords were committed.',
    by: 'delivery',
    holds: 'No file of the tree has a key, a token or a password of anybody.',
    proofs: [proof('test/house/secrets.test.ts', 'no file has a secret of anybody')],
  },
];
