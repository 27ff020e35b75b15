import type { MultiNicOperatorSpec } from '../../../api/multinicoperator.ts';
import type { Checked, ControllerWanted, InventoryKind, Problem } from '../../model/accepted.ts';
import { checked, unusable } from './checked.ts';
import { environmentProblems } from './environment.ts';
import { imageProblems } from './image.ts';
import { readOpenstackDefaults } from './openstack.ts';
import { portProblems } from './ports.ts';
import { readResources } from './resources.ts';

type Controller = NonNullable<MultiNicOperatorSpec['controller']>;
type HealthProbe = NonNullable<Controller['healthProbe']>;

export interface ControllerInput {
  readonly controller: Controller;
  readonly openstack: NonNullable<MultiNicOperatorSpec['openstack']>;
  readonly isDatabaseOurs: boolean;
}

/** Paths served on the operator's health port. */
const probePaths = ['/healthz', '/readyz'];
/** The operator's other ports: inventory and triggers. */
const otherPorts = [18_081, 18_082];

const field = 'spec.controller';

/** Checks the fields for the operator's Deployment. */
export function acceptController(input: ControllerInput): Checked<ControllerWanted> {
  const { controller, openstack, isDatabaseOurs } = input;
  const { image, replicas, resources = {}, healthProbe = {}, env = [] } = controller;
  const inventory = inventoryOf(env, isDatabaseOurs);
  const used = readResources(resources, `${field}.resources`);
  const defaults = readOpenstackDefaults(openstack, 'spec.openstack');
  const problems = [
    ...imageProblems(`${field}.image`, image),
    ...replicaProblems(replicas, inventory),
    ...used.problems,
    ...probeProblems(healthProbe),
    ...environmentProblems(env, `${field}.env`, isDatabaseOurs),
    ...defaults.problems,
  ];
  const wanted: ControllerWanted = {
    ...(image === undefined ? {} : { image }),
    ...(replicas === undefined ? {} : { replicas }),
    resources: used.value,
    ...probeOf(healthProbe),
    env,
    inventory,
    openstackDefaults: defaults.value,
  };
  return checked(wanted, problems);
}

function inventoryOf(env: NonNullable<Controller['env']>, isDatabaseOurs: boolean): InventoryKind {
  if (isDatabaseOurs) return 'built-in';
  return env.some(({ name }) => name === 'DB_HOST') ? 'external' : 'sqlite';
}

function probeOf({ port, path }: HealthProbe) {
  return {
    ...(port === undefined ? {} : { healthPort: port }),
    ...(path === undefined ? {} : { livenessPath: path }),
  };
}

function replicaProblems(replicas: number | undefined, inventory: InventoryKind): Problem[] {
  if (replicas === undefined) return [];
  const here = `${field}.replicas`;
  if (replicas < 0) return [unusable(here, replicas, 'is below 0; set it to 1 or more')];
  if (replicas < 2 || inventory !== 'sqlite') return [];
  const next =
    'set spec.database.enabled to true, name an external database by DB_HOST in spec.controller.env, or set it to 1';
  return [unusable(here, replicas, `needs MariaDB; ${next}`)];
}

function probeProblems({ port, path }: HealthProbe): Problem[] {
  const here = `${field}.healthProbe`;
  const problems = portProblems(`${here}.port`, port);
  if (port !== undefined && otherPorts.includes(port)) {
    const what = 'is used by the operator for its API; set another port, such as 8082';
    problems.push(unusable(`${here}.port`, port, what));
  }
  if (path !== undefined && !probePaths.includes(path)) {
    const what = `is not served by the operator; set it to ${probePaths.join(' or ')}`;
    problems.push(unusable(`${here}.path`, path, what));
  }
  return problems;
}
