import { businessGroup, namespaces } from '../../src/api/names.ts';
import { controllerRights } from '../../src/controller/rights.ts';
import { lifecycleRights } from '../../src/lifecycle/rights.ts';
import { operatorRights } from '../../src/operator/rights.ts';
import { violaRights, writerRights } from '../../src/viola/rights.ts';
import { accountNames } from './accounts.ts';
import { inPlaces, type RoleText, roleAt, roleText } from './role.ts';
import { ownKindRoles, readerRole } from './user-roles.ts';

/** Where operator and Viola run. */
const home = 'multinic-operator-system';
const { system, agents, registrations } = namespaces;

/** `deploy/rbac`: rights of an installation with the usual names, by file. */
export function rbacManifests(): ReadonlyMap<string, string> {
  return new Map([
    ['deploy/rbac/operator.yaml', operator()],
    ['deploy/rbac/operator-viola-access.yaml', violaAccess()],
    ['deploy/rbac/operator-rabbitmq.yaml', rabbitmq()],
    ['deploy/rbac/lifecycle.yaml', lifecycle()],
    ['deploy/rbac/viola.yaml', viola()],
    ['deploy/rbac/viola-business.yaml', writer()],
    ['deploy/rbac/controller.yaml', controller()],
    ['deploy/rbac/users.yaml', users()],
    ['deploy/rbac/users-business.yaml', businessUsers()],
  ]);
}

function operator(): string {
  const account = { name: accountNames.operator, namespace: home };
  const { clusterRole: name = '' } = operatorRights;
  const own = roleAt(operatorRights, 'own', home, account);
  return file(
    'src/operator/rights.ts',
    'The operator in the management cluster: OpenstackConfigs of every namespace, and in its own the lease.',
    { name, account, rights: inPlaces(operatorRights, 'configs', 'cluster') },
    { ...own, rights: own.rights.filter(({ when }) => when !== 'oneNamespace') },
    roleAt(operatorRights, 'secrets', system, account),
  );
}

/** In a separate file: an administrator grants only rights for used settings. */
function violaAccess(): string {
  const account = { name: accountNames.operator, namespace: home };
  return file(
    'src/operator/rights.ts',
    'For an operator that keeps token and certificate of Viola itself (--viola-access managed, --viola-tls managed).',
    roleAt(operatorRights, 'access', home, account),
  );
}

function rabbitmq(): string {
  const account = { name: accountNames.operator, namespace: home };
  return file(
    'src/operator/rights.ts',
    'For an operator that writes the message queue of each OpenstackConfig into a Secret beside it (--rabbitmq-secrets true).',
    roleAt(operatorRights, 'brokerSecrets', system, account),
  );
}

function lifecycle(): string {
  const table = lifecycleRights(system);
  const account = { name: accountNames.lifecycle, namespace: system };
  return file(
    'src/lifecycle/rights.ts',
    'Lifecycle in the management cluster: MultiNicOperators, its webhook, and what it installs in its own namespace.',
    { name: table.clusterRole ?? '', account, rights: inPlaces(table, 'cluster') },
    roleAt(table, 'own', system, account),
  );
}

function viola(): string {
  const account = { name: accountNames.viola, namespace: home };
  return file(
    'src/viola/rights.ts',
    'Viola in the management cluster: reads the Secrets that register business clusters, in a namespace that holds nothing else.',
    roleAt(violaRights, 'registrations', registrations, account),
    roleAt(violaRights, 'own', home, account),
  );
}

function writer(): string {
  const account = { name: accountNames.writer, namespace: system };
  return file(
    'src/viola/rights.ts',
    'The identity in a business cluster that the registering Secret holds: writes node configs, and reads what identifies the cluster.',
    roleAt(writerRights, 'objects', system, account),
    roleAt(writerRights, 'kubeSystem', 'kube-system', account),
  );
}

function controller(): string {
  const table = controllerRights(system);
  const account = { name: accountNames.controller, namespace: system };
  return file(
    'src/controller/rights.ts',
    'The controller in a business cluster. Nodes belong to no namespace; the rest is in the two namespaces of MultiNIC, but for the networks of the cluster.',
    { name: table.clusterRole ?? '', account, rights: inPlaces(table, 'cluster') },
    roleAt(table, 'own', system, account),
    roleAt(table, 'agents', agents, account),
    roleAt(table, businessGroup, system, account),
    roleAt(table, 'expansion', system, account),
    roleAt(table, 'kubeSystem', 'kube-system', account),
    roleAt(table, 'apiServer', 'default', account),
  );
}

function users(): string {
  const note = noteOf(
    'src/cli/rights.ts',
    'Users in the management cluster: our kinds for the roles view and edit, and a Role for kubectl multinic.',
  );
  return `${note}${ownKindRoles('management', 'multinic')}---\n${readerRole(home)}`;
}

function businessUsers(): string {
  const note = noteOf(
    'src/cli/rights.ts',
    'Users in a business cluster: our kinds for the roles view and edit.',
  );
  return note + ownKindRoles('business', 'multinic-agent');
}

function file(source: string, about: string, ...roles: readonly RoleText[]): string {
  return noteOf(source, about) + roles.map(roleText).join('---\n');
}

function noteOf(source: string, about: string): string {
  return `# Generated by \`npm run generate\` from ${source}. Do not edit.\n# ${about}\n`;
}
