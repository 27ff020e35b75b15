import { home } from '../../rig/chain/identities.ts';
import { namespaces } from '../../src/api/names.ts';
import { controllerRights, placesOf as placesOfController } from '../../src/controller/rights.ts';
import { type Claim, claimsOf, type RightsTable } from '../../src/kube/rights.ts';
import { lifecycleRights, placesOf as placesOfLifecycle } from '../../src/lifecycle/rights.ts';
import {
  neededRights,
  operatorRights,
  placesOf as placesOfOperator,
  type RightsSettings,
} from '../../src/operator/rights.ts';
import {
  placesOf as placesOfViola,
  violaRights,
  writerPlacesOf,
  writerRights,
} from '../../src/viola/rights.ts';

const { system, agents, registrations } = namespaces;

/** Parts that take a port from OpenStack to a node. */
export const chainParts = ['operator', 'viola', 'writer', 'controller'] as const;
export const parts = [...chainParts, 'lifecycle'] as const;
export type PartName = (typeof parts)[number];

export const tables: Readonly<Record<PartName, RightsTable>> = {
  operator: operatorRights,
  lifecycle: lifecycleRights(system),
  viola: violaRights,
  writer: writerRights,
  controller: controllerRights(system),
};

/** What each identity of an installation with the usual names may do; settings are those of the operator. */
export function claimsOfParts(
  settings: Partial<RightsSettings> = {},
): Readonly<Record<PartName, readonly Claim[]>> {
  const operator: RightsSettings = {
    namespace: home,
    watchNamespace: undefined,
    secretNamespaces: [],
    violaAccess: 'given',
    violaTls: 'given',
    rabbitmqSecrets: false,
    ...settings,
  } satisfies RightsSettings;
  const controller = {
    namespace: system,
    agentNamespace: agents,
    bizConfig: 'active',
    bizConfigGroups: ['multinic.io'],
  } as const;
  return {
    operator: claimsOf(neededRights(operator), placesOfOperator(operator)),
    lifecycle: claimsOf(lifecycleRights(system).rights, placesOfLifecycle({ namespace: system })),
    viola: claimsOf(
      violaRights.rights,
      placesOfViola({ registrationsNamespace: registrations }, home),
    ),
    writer: claimsOf(writerRights.rights, writerPlacesOf(system)),
    controller: claimsOf(controllerRights(system).rights, placesOfController(controller)),
  };
}
