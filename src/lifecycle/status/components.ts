import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import type { Accepted } from '../model/accepted.ts';
import type { Outcomes } from '../model/outcome.ts';

type ControllerStatus = NonNullable<MultiNicOperatorStatus['controllerStatus']>;
type DatabaseStatus = NonNullable<MultiNicOperatorStatus['databaseStatus']>;

/** Components of an installation, as named in metric and message. */
type ComponentName = 'controller' | 'database' | 'protection';

export interface Component {
  readonly name: ComponentName;
  /** Ready, Progressing, Degraded, Pending, Disabled or External. */
  readonly phase: string;
  /** Reason for not being ready. */
  readonly message?: string | undefined;
}

/** Returns desired components that are not ready. */
export function notReady(components: readonly Component[]): Component[] {
  return components.filter(({ phase }) => !['Ready', 'Disabled', 'External'].includes(phase));
}

export function controllerStatusOf({ controller }: Outcomes): ControllerStatus {
  const { message: _, phase = 'Pending', ...counts } = controller.plan.report;
  return { phase, ...counts };
}

/** Keeps backups and version while the stage reads none. */
export function databaseStatusOf(
  { database, backup, operation }: Outcomes,
  before: DatabaseStatus | undefined,
): DatabaseStatus {
  const { message: _, phase = 'Pending', ...report } = database.plan.report;
  const { lastBackup = before?.lastBackup, lastRestore = before?.lastRestore } = backup.plan.report;
  return {
    ...report,
    phase,
    ...(operation.plan.report.operation && { operation: operation.plan.report.operation }),
    ...(lastBackup && { lastBackup }),
    ...(lastRestore && { lastRestore }),
  };
}

/** Returns the components with phases; protection counts only if enabled in the spec. */
export function componentsOf(
  outcomes: Outcomes,
  accepted: Accepted,
  isProtected: boolean,
): readonly Component[] {
  const { controller, database } = outcomes;
  const wanted = accepted.protection.value;
  const isWanted = wanted?.preventsMutations === true && wanted.breakGlassUntil === undefined;
  return [
    {
      name: 'controller',
      phase: controllerStatusOf(outcomes).phase ?? 'Pending',
      message: controller.plan.report.message,
    },
    {
      name: 'database',
      phase: database.plan.report.phase ?? 'Pending',
      message: database.plan.report.message,
    },
    ...(isWanted ? [protectionOf(isProtected, outcomes.protection.plan.report.message)] : []),
  ];
}

function protectionOf(
  isActive: boolean,
  message = 'the admission webhook does not answer yet',
): Component {
  return isActive
    ? { name: 'protection', phase: 'Ready' }
    : {
        name: 'protection',
        phase: 'Pending',
        message,
      };
}
