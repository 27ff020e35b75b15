import * as z from 'zod';
import { bizConfigGroups, bizConfigModes } from '../../../src/api/names.ts';
import { settingsOfParts } from '../../settings-of-parts.ts';
import { flag, group, objectName, whole } from './describe.ts';
import { pullSecrets, resources } from './kubernetes.ts';
import { monitoring } from './monitoring.ts';
import { apiServer, dns, enabled, metrics } from './network.ts';
import { crds, global, heap, image, podValues, priorityClass } from './pod.ts';
import { settingValues } from './settings.ts';

function networks(description: string) {
  return z
    .array(z.string().regex(/^[^,]+\/\d+$/))
    .describe(description)
    .default([]);
}

const controller = group('The controller.', {
  replicas: whole(1, 0, 5, 'One works, others wait.'),
  image: image('multinic-controllers', 'the controller'),
  heap: heap('controller'),
  resources: resources(
    { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    'What a Pod is given. No limit of CPU: it would only be slower for it.',
  ),
  settings: settingValues(settingsOfParts.controller, {
    description: 'Settings of the controller by name; see docs/reference/values-agent.md.',
    decided: {
      namespace: 'that of the release',
      agentNamespace: 'agent.namespace',
      agentServiceAccount: 'multinic-agent',
      agentImage: 'agent.image',
      agentImagePullPolicy: 'agent.image.pullPolicy',
      agentImagePullSecrets: 'agent.imagePullSecrets',
      agentPriorityClass: 'agent.priorityClassName',
      agentResources: 'agent.resources',
      bizConfig: 'controller.bizConfig.mode',
      bizConfigGroups: 'controller.bizConfig.groups',
      serviceCIDRs: 'controller.serviceCIDRs',
      podNetworks: 'controller.podNetworks',
    },
  }),
  serviceCIDRs: networks(
    'Networks of Services, such as 10.96.0.0/12. A NIC that overlaps a network is refused; a network missing from this list is not protected. Empty: the controller reads the networks from the cluster.',
  ),
  podNetworks: networks(
    'Networks of Pods, such as 10.244.0.0/16. A NIC that overlaps a network is refused; a network missing from this list is not protected. Empty: the controller reads the networks from the cluster.',
  ),
  bizConfig: group('MultiNicBizConfig, the legacy kind for a whole cluster.', {
    // YAML 1.1 reads a plain off as false.
    mode: z
      .union([z.enum(bizConfigModes), z.literal(false)])
      .describe(
        'active: each entry becomes a MultiNicNodeConfig; read-only: objects and status stay, edits are reported; off: the kind is ignored.',
      )
      .default('active'),
    groups: z
      .array(z.enum(bizConfigGroups))
      .describe(
        'Groups in which the definition is installed and read: multinic.io, and multinic.okestro.io for objects of legacy writers.',
      )
      .default(['multinic.io']),
  }),
  ...podValues(),
});

const agent = group('The agents: a Job on a node whose NICs are to change.', {
  namespace: objectName()
    .describe(
      'Namespace of the Jobs. Its Pod Security is privileged: agents need the network of the host.',
    )
    .default('multinic-agents'),
  createNamespace: flag(
    true,
    'Whether it is made; it is kept when the release is uninstalled. false: it is there already.',
  ),
  image: image('multinic-agent', 'the agents'),
  imagePullSecrets: pullSecrets
    .describe(
      'Secrets with the credentials of the registry, in the namespace of the Jobs: make them there. Default: the names of global.imagePullSecrets.',
    )
    .default([]),
  resources: resources(
    { requests: { cpu: '0', memory: '0' }, limits: { memory: '256Mi' } },
    'Resources of the agent container. A kubelet admits a Pod without requests on a full node, too; raise them where a LimitRange has a minimum.',
  ),
  priorityClassName: objectName()
    .describe('PriorityClass of the Jobs; default: that of priorityClass, if it is created.')
    .optional(),
});

export const agentChartValues = z.strictObject({
  global,
  crds,
  controller,
  agent,
  violaAccess: group("Viola's identity in this cluster.", {
    create: flag(true, 'ServiceAccount viola, which may write node configs and nothing else.'),
  }),
  priorityClass,
  networkPolicy: group('NetworkPolicies. `to: []` is anywhere, `from: []` is nobody.', {
    enabled,
    apiServer,
    dns,
    metrics,
  }),
  ...monitoring,
});
