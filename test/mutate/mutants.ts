import type { Mutant } from './mutant.ts';
import { agentMutants } from './mutants/agent.ts';
import { agentFamilyMutants } from './mutants/agent-family.ts';
import { agentFilesMutants } from './mutants/agent-files.ts';
import { agentForeignMutants } from './mutants/agent-foreign.ts';
import { agentIpv6Mutants } from './mutants/agent-ipv6.ts';
import { agentManagerMutants } from './mutants/agent-manager.ts';
import { agentNetworkdMutants } from './mutants/agent-networkd.ts';
import { agentRememberedMutants } from './mutants/agent-remembered.ts';
import { agentRightsMutants } from './mutants/agent-rights.ts';
import { agentRoutingMutants } from './mutants/agent-routing.ts';
import { agentSettingsMutants } from './mutants/agent-settings.ts';
import { apiMutants } from './mutants/api.ts';
import { controllerMutants } from './mutants/controller.ts';
import { controllerFamilyMutants } from './mutants/controller-family.ts';
import { credentialsMutants } from './mutants/credentials.ts';
import { driftMutants } from './mutants/drift.ts';
import { familiesMutants } from './mutants/families.ts';
import { faultProxyMutants } from './mutants/fault-proxy.ts';
import { httpMutants } from './mutants/http.ts';
import { kubeMutants } from './mutants/kube.ts';
import { looksMutants } from './mutants/looks.ts';
import { notificationsMutants } from './mutants/notifications.ts';
import { openstackMutants } from './mutants/openstack.ts';
import { operatorMutants } from './mutants/operator.ts';
import { planMutants } from './mutants/plan.ts';
import { policyMutants } from './mutants/policy.ts';
import { processMutants } from './mutants/process.ts';
import { scenarioMutants } from './mutants/scenarios.ts';
import { selectionMutants } from './mutants/selection.ts';
import { selfCheckMutants } from './mutants/self-check.ts';
import { storeMutants } from './mutants/store.ts';
import { triggersMutants } from './mutants/triggers.ts';
import { violaMutants } from './mutants/viola.ts';
import { violaAccessMutants } from './mutants/viola-access.ts';

/** Defects that have happened in systems like ours, each in one line, by the room they are in. */
export const mutantsOfRoom: Readonly<Record<string, readonly Mutant[]>> = {
  agent: agentMutants,
  'agent-family': agentFamilyMutants,
  'agent-files': agentFilesMutants,
  'agent-foreign': agentForeignMutants,
  'agent-ipv6': agentIpv6Mutants,
  'agent-manager': agentManagerMutants,
  'agent-remembered': agentRememberedMutants,
  'agent-networkd': agentNetworkdMutants,
  'agent-rights': agentRightsMutants,
  'agent-routing': agentRoutingMutants,
  'agent-settings': agentSettingsMutants,
  api: apiMutants,
  controller: controllerMutants,
  'controller-family': controllerFamilyMutants,
  drift: driftMutants,
  families: familiesMutants,
  credentials: credentialsMutants,
  notifications: notificationsMutants,
  'fault-proxy': faultProxyMutants,
  http: httpMutants,
  kube: kubeMutants,
  looks: looksMutants,
  openstack: openstackMutants,
  operator: operatorMutants,
  plan: planMutants,
  policy: policyMutants,
  process: processMutants,
  scenarios: Object.values(scenarioMutants),
  selection: selectionMutants,
  'self-check': selfCheckMutants,
  store: storeMutants,
  triggers: triggersMutants,
  viola: violaMutants,
  'viola-access': violaAccessMutants,
};
