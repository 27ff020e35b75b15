import * as z from 'zod';
import { settingsOfParts } from '../../settings-of-parts.ts';
import { flag, group, objectName, text, whole } from './describe.ts';
import { resources } from './kubernetes.ts';
import { lifecycle } from './lifecycle.ts';
import { monitoring } from './monitoring.ts';
import { managementRules } from './network.ts';
import { crds, global, heap, image, podValues, priorityClass } from './pod.ts';
import { secretSettingValues, settingValues } from './settings.ts';
import { trigger } from './triggers.ts';
import { authorities, violaTls, violaTokens } from './viola-access.ts';

const persistence = group('Volume of the inventory, while it is in SQLite.', {
  enabled: flag(true, 'false: the inventory begins anew with each Pod; for trying things out.'),
  size: text()
    .describe('Size of the volume; SQLite grows with the history of NICs.')
    .default('1Gi'),
  storageClassName: z
    .string()
    .describe('Default: the cluster\'s default class. "" is a volume that has no class.')
    .optional(),
  existingClaim: objectName().describe('Claim that is there already.').optional(),
});

const operator = group('The operator, with the inventory.', {
  replicas: whole(
    1,
    0,
    5,
    'One works, others wait. More than one needs settings.dbHost (MariaDB).',
  ),
  image: image('multinic-controllers', 'the operator'),
  heap: heap('operator'),
  resources: resources(
    { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '448Mi' } },
    'What a Pod is given. No limit of CPU: it would only be slower for it.',
  ),
  settings: settingValues(settingsOfParts.operator, {
    description:
      'Settings of the operator and the inventory by name; see docs/reference/values-operator.md.',
    decided: {
      namespace: 'that of the release',
      secretNamespaces: 'watchNamespace, else namespaces.system',
      violaEndpoint: 'Viola of this chart',
      violaAccess: 'as viola.tokens.mode says',
      violaTls: 'as viola.tls.mode says',
      violaTokenFile: 'as viola.tokens.mode says',
      violaCaFile: 'as viola.tls.mode says',
      contrabassCaFile: 'caBundle',
      openstackCaFile: 'caBundle',
      dbCaFile: 'caBundle, with dbTls',
      triggerHmacKeyFile: 'trigger.endpoint.keysSecret',
      apiTokensFile: 'trigger.endpoint.tokensSecret',
      apiTlsCert: 'trigger.endpoint.tlsSecret',
      apiTlsKey: 'trigger.endpoint.tlsSecret',
      apiPlainHttp: 'trigger.endpoint.tlsSecret, and inventoryListen',
    },
  }),
  secretSettings: secretSettingValues(
    settingsOfParts.operator,
    'Settings that are secrets: the Secret of this namespace, and its key. Read when a Pod starts.',
  ),
  caBundle: authorities(
    'CA that Contrabass, OpenStack and, with settings.dbTls, MariaDB are verified with; default: what Node.js trusts.',
  ),
  persistence,
  trigger,
  ...podValues(),
});

const viola = group('Viola.', {
  replicas: whole(1, 0, 10, 'All of them work.'),
  image: image('multinic-controllers', 'Viola'),
  heap: heap('viola'),
  resources: resources(
    { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    'What a Pod is given.',
  ),
  settings: settingValues(settingsOfParts.viola, {
    description: 'Settings of Viola by name; see docs/reference/values-operator.md.',
    decided: {
      registrationsNamespace: 'namespaces.clusters',
      tokenFile: 'as viola.tokens.mode says',
      tlsCert: 'as viola.tls.mode says',
      tlsKey: 'as viola.tls.mode says',
      plainHttp: 'as viola.tls.mode says',
    },
  }),
  tls: violaTls,
  tokens: violaTokens,
  ...podValues(),
});

export const operatorChartValues = z.strictObject({
  global,
  crds,
  namespaces: group('Namespaces beside that of the release.', {
    create: flag(
      true,
      'Whether they are made; they are kept when the release is uninstalled. false: they are there already.',
    ),
    system: objectName().describe('OpenstackConfigs, by custom.').default('multinic-system'),
    clusters: objectName()
      .describe('Secrets that register business clusters, and nothing else.')
      .default('multinic-clusters'),
  }),
  operator,
  viola,
  lifecycle,
  priorityClass,
  networkPolicy: group(
    'NetworkPolicies. `to: []` is anywhere, `from: []` is nobody.',
    managementRules,
  ),
  ...monitoring,
});
